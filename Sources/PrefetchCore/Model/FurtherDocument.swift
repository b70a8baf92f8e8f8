/// Further document of a manifest: a next page, a child sitemap, a package index.
package struct FurtherDocument: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    case page
    /// Child of a sitemap index; `level` counts from 1.
    case sitemap(level: Int)
    case packageIndex(PackageRequirement)
    /// Bazel registry document with the source of a module; the digest is the document's.
    case moduleSource(ContentDigest)
    /// List of checksums among the assets of a release; only adds digests to these assets.
    case checksums(ReleaseChecksums)
    /// Document of a package in a registry; only adds dates to the files of these versions.
    case dates([PackageVersion])
    /// Page of the files of a commit in a hub's repository; its URL names the commit.
    case hubTree
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

/// List of checksums among the assets of a release, as the release describes it.
package struct ReleaseChecksums: Hashable, Sendable {
  /// Folder of the release's assets in a tree, which is its tag.
  package var folder: String
  /// The one asset that the list describes; nil for a list of several.
  package var subject: String?
  /// Digests of the list itself; empty if the release states none.
  package var digests: [ExpectedDigest] = []

  package init(folder: String, subject: String? = nil) {
    self.folder = folder
    self.subject = subject
  }
}

/// Version of a package that a list names by the URL of its file.
package struct PackageVersion: Hashable, Sendable {
  package var version: String
  package var url: WebURL

  package init(version: String, url: WebURL) {
    self.version = version
    self.url = url
  }
}

extension FurtherDocument {
  /// Whether the document under the URL never changes, so that a stored one is not revalidated.
  package var isImmutable: Bool { kind == .hubTree }

  /// Whether the list of the manifest holds without this document.
  package var isOptional: Bool {
    switch kind {
    case .checksums, .dates: true
    case .page, .sitemap, .packageIndex, .moduleSource, .hubTree: false
    }
  }

  /// Versions whose dates the document may state; nil for another kind of document.
  var datedVersions: [PackageVersion]? {
    if case .dates(let versions) = kind { versions } else { nil }
  }

  /// Whether the manifest states no digest of an optional document.
  package var isUnproven: Bool {
    if case .checksums(let list) = kind { list.digests.isEmpty } else { false }
  }
}
