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

  /// Declared format; nil to detect it.
  package var format: ManifestFormat?
  package var pointers = Pointers()
  /// Whether omissions of a reader are a failure.
  package var isStrict = false
  /// Registry in place of registry.npmjs.org.
  package var npmRegistry: WebURL?
  package var pipIndex: WebURL?
  package var goProxy: WebURL?
  /// Go module patterns, separated by commas, that no proxy may learn of.
  package var privateModules = ""
  /// URL of crates, with placeholders such as `{crate}`.
  package var crateDownload: String?
  /// Sparse index whose files are fetched along with the crates; nil for none.
  package var crateIndex: WebURL?
  /// Kinds of dependencies to omit: `dev`, `optional`, `peer`.
  package var omitted: [String] = []
  /// Platforms whose packages are taken; empty for this machine's.
  package var platforms: [String] = []
  /// This machine; nil if it was not examined, and every package fits.
  package var machine: MachinePlatform?
  /// Patterns of the items to take; empty for all.
  package var included: [String] = []
  package var excluded: [String] = []
  /// Number of newest items to take.
  package var kept: Int?
  package var behavior = ItemBehavior.all
  /// Sources and categories that are switched on or off; all others are on.
  package var sources: [String: Bool] = [:]
  package var categories: [String: Bool] = [:]
  package var countPerCategory: Int?
  /// Whether a list may name other hosts although its format forbids it.
  package var mayCrossHosts = false
  /// Whether declared modification times are believed.
  package var trustsModificationTimes = false

  package init() {}
}
