/// Further document of a manifest: a next page, a child sitemap, a package index.
package struct FurtherDocument: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    case page
    /// Child of a sitemap index; `level` counts from 1.
    case sitemap(level: Int)
    case packageIndex(PackageRequirement)
    /// Bazel registry document with the source of a module; the digest is the document's.
    case moduleSource(ContentDigest)
  }

  package var url: WebURL
  package var kind: Role
  /// Value of `Accept`; nil for `*/*`.
  package var accept: String?

  package init(url: WebURL, kind: Role, accept: String? = nil) {
    self.url = url
    self.kind = kind
    self.accept = accept
  }
}

package struct PackageRequirement: Hashable, Sendable {
  package var project: String
  package var version: String
  package var digests: [ExpectedDigest]

  package init(project: String, version: String, digests: [ExpectedDigest]) {
    self.project = project
    self.version = version
    self.digests = digests
  }
}
