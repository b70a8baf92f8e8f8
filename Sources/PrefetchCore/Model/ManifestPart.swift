/// A further document that a manifest says belongs to it: the next page, a sitemap of an index, the
/// files that an index knows of a package.
package struct ManifestPart: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    /// Further items in the same format.
    case page
    /// A child of a sitemap index; `level` counts from 1.
    case sitemap(level: Int)
    /// What a package index has of a project; of its files those that the requirement admits.
    case packageIndex(PackageWish)
    /// Where a Bazel registry says that the source of a module is; the digest is that of the document.
    case moduleSource(ContentDigest)
  }

  package var url: WebURL
  package var kind: Role
  /// What to ask for in place of `*/*`.
  package var accept: String?

  package init(url: WebURL, kind: Role, accept: String? = nil) {
    self.url = url
    self.kind = kind
    self.accept = accept
  }
}

/// What a requirement says of the files of one Python project.
package struct PackageWish: Hashable, Sendable {
  /// Normalised.
  package var project: String
  package var version: String
  /// Any of them is good.
  package var digests: [ExpectedDigest]

  package init(project: String, version: String, digests: [ExpectedDigest]) {
    self.project = project
    self.version = version
    self.digests = digests
  }
}
