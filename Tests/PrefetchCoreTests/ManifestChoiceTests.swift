import PrefetchCore
import Testing

@Suite("Selection of items by source and category")
struct ManifestChoiceTests {
  private static func entry(
    _ name: String,
    _ categories: [String] = [],
    provider: String? = nil,
    thumbnail: String? = nil
  ) throws -> ManifestEntry {
    var entry = ManifestEntry(url: try WebURL("https://h.example/\(name)"))
    entry.categories = categories
    entry.provider = provider
    if let thumbnail {
      entry.thumbnail = Thumbnail(url: try WebURL("https://h.example/\(thumbnail)"))
    }
    return entry
  }

  private func selected(_ rules: ManifestRules, _ entries: [ManifestEntry]) -> [String] {
    var table = EntryTable(entries)
    table.categoryParents = ["football": "sports", "sports": "all", "a": "b", "b": "a"]
    return ManifestSelection(rules).apply(to: table).map { String($0.url.path.dropFirst()) }
  }

  @Test("A source that is off has no items, whatever else they declare")
  func sources() throws {
    var rules = ManifestRules()
    rules.sources = ["off": false, "on": true]
    let entries = try [
      Self.entry("1", provider: "off"), Self.entry("2", provider: "on"),
      Self.entry("3", provider: "other"), Self.entry("4"),
    ]
    #expect(selected(rules, entries) == ["2", "3", "4"])
  }

  @Test(
    "An item is left out when all of its categories are off",
    arguments: [
      (["sports": false], ["1", "3", "4", "5"]), (["all": false], ["1", "4", "5"]),
      (["sports": false, "football": true], ["1", "2", "3", "4", "5"]),
      // Manifests may go round in circles.
      (["a": false], ["1", "2", "3", "4"]), ([:], ["1", "2", "3", "4", "5"]),
    ] as [([String: Bool], [String])]
  )
  func categories(said: [String: Bool], expected: [String]) throws {
    var rules = ManifestRules()
    rules.categories = said
    let entries = try [
      Self.entry("1"), Self.entry("2", ["football"]), Self.entry("3", ["football", "all"]),
      Self.entry("4", ["football", "news"]), Self.entry("5", ["b"]),
    ]
    #expect(selected(rules, entries) == expected)
  }

  @Test("A number of items is taken per category, and all items without one")
  func counts() throws {
    var rules = ManifestRules()
    rules.countPerCategory = 2
    let entries = try [
      Self.entry("1", ["n"]), Self.entry("2", ["n"]), Self.entry("3", ["n"]),
      Self.entry("4", ["n", "s"]), Self.entry("5"), Self.entry("6", ["s"]),
      Self.entry("7", ["s"]),
    ]
    #expect(selected(rules, entries) == ["1", "2", "4", "5", "6"])
    rules.countPerCategory = 0
    #expect(selected(rules, entries) == ["5"])
  }

  @Test("Thumbnails precede items, each once, and never replace an item")
  func thumbnails() throws {
    let entries = try [
      Self.entry("1", ["n"], thumbnail: "t1"), Self.entry("2", ["s"], thumbnail: "t2"),
      Self.entry("3", ["n"], thumbnail: "t1"), Self.entry("4", ["n"], thumbnail: "1"),
    ]
    #expect(selected(ManifestRules(), entries) == ["t1", "t2", "1", "2", "3", "4"])
    var rules = ManifestRules()
    rules.categories = ["s": false]
    #expect(selected(rules, entries) == ["t1", "1", "3", "4"])
  }
}
