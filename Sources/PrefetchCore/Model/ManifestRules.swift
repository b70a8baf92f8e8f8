/// What the configuration says about the reading of a segment's manifest.
package struct ManifestRules: Hashable, Sendable {
  /// Where things are in a JSON document of another make, as JSON Pointers.
  package struct Pointers: Hashable, Sendable {
    /// May end in `/*`.
    package var items: String?
    /// From an item to its URLs.
    package var urls: [String] = []
    package var sha256: String?
    package var size: String?
    /// From an item to its name in a tree; its URL as well, where no pointer leads to one.
    package var path: String?
    /// What relative URLs and paths are below, instead of the place of the document.
    package var base: WebURL?

    package init() {}
  }

  /// Declared; nil where the document tells by itself.
  package var format: ManifestFormat?
  package var pointers = Pointers()
  /// Whether what a reader leaves out is a failure.
  package var isStrict = false
  /// Stands for registry.npmjs.org.
  package var npmRegistry: WebURL?
  /// In which Python's packages are looked up.
  package var pipIndex: WebURL?
  /// That serves Go's modules.
  package var goProxy: WebURL?
  /// Go's patterns of modules that no proxy is to be told of, by commas.
  package var privateModules = ""
  /// Where crates are, with words like `{crate}` in it.
  package var crateDownload: String?
  /// The sparse index whose files come along with the crates; nil for none.
  package var crateIndex: WebURL?
  /// Kinds of dependencies to leave out: `dev`, `optional`, `peer`.
  package var omitted: [String] = []
  /// Whose packages to take; empty for this machine's.
  package var platforms: [String] = []
  /// This machine; nil where it was not looked at, and then every package fits it.
  package var machine: MachinePlatform?
  /// Patterns of the items to take; empty for all.
  package var included: [String] = []
  /// Patterns of the items to leave.
  package var excluded: [String] = []
  /// How many of the newest items to take.
  package var kept: Int?
  /// What runs fetch of items that do not say it themselves.
  package var behavior = ItemBehavior.all
  /// Sources and categories that are switched on or off; all others are on.
  package var sources: [String: Bool] = [:]
  package var categories: [String: Bool] = [:]
  /// How many items to take of each category.
  package var countPerCategory: Int?
  /// Whether it may name other hosts, where its format by itself does not allow it.
  package var mayCrossHosts = false
  /// Whether it is believed when things were changed.
  package var trustsModificationTimes = false

  package init() {}
}
