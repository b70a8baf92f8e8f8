/// Configured rules for reading a segment's manifest.
package struct ManifestRules: Hashable, Sendable {
  package struct Pointers: Hashable, Sendable {
    /// Pointer to the items; may end in `/*`.
    package var items: String?
    package var urls: [String] = []
    package var sha256: String?
    package var size: String?
    /// Pointer from an item to its published name; without `urls` also to its URL.
    package var path: String?
    /// Base of relative URLs and paths; nil for the place of the document.
    package var base: WebURL?

    package init() {}
  }

  package var format: ManifestFormat?
  package var pointers = Pointers()
  package var isStrict = false
  package var npmRegistry: WebURL?
  package var pipIndex: WebURL?
  package var goProxy: WebURL?
  /// Go module patterns, separated by commas, that no proxy may learn of.
  package var privateModules = ""
  package var crateDownload: String?
  package var crateIndex: WebURL?
  /// Kinds of dependencies to omit: `dev`, `optional`, `peer`.
  package var omitted: [String] = []
  /// Platforms whose packages are taken; empty for this machine's.
  package var platforms: [String] = []
  /// This machine; nil if it was not examined, and every package fits.
  package var machine: MachinePlatform?
  package var included: [String] = []
  package var excluded: [String] = []
  package var kept: Int?
  package var versions: VersionRules?
  package var behavior = ItemBehavior.all
  /// Sources and categories that are switched on or off; all others are on.
  package var sources: [String: Bool] = [:]
  package var categories: [String: Bool] = [:]
  package var countPerCategory: Int?
  /// Whether a list may name other hosts although its format forbids it.
  package var mayCrossHosts = false
  /// Whether requests to the manifest's server carry credentials of the configuration.
  package var hasCredentials = false
  package var trustsModificationTimes = false
  /// Whether registries are asked for dates that a lock file lacks.
  package var asksDates = false

  package init() {}
}
