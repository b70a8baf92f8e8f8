import PrefetchCore
import Testing

/// Entries whose names collide in a published tree.
@Suite("Name collisions in a published tree")
struct TreeCollisionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var layout = PublishingRules.Layout.url
    /// `URL` or `URL path`.
    var entries: [String]
    var refused: [Int]

    var testDescription: String { entries.joined(separator: ", ") }
  }

  static let cases = [
    Case(entries: ["https://a.example/x", "https://a.example/y"], refused: []),
    Case(entries: ["https://a.example/x", "https://a.example/X"], refused: []),
    Case(entries: ["https://a.example/x", "http://a.example/x"], refused: [0, 1]),
    Case(entries: ["https://a.example/x", "https://a.example/x/y"], refused: [0, 1]),
    Case(entries: ["https://a.example/x/y/z", "https://a.example/x"], refused: [0, 1]),
    Case(entries: ["https://a.example/x/", "https://a.example/x/index.html"], refused: [0, 1]),
    Case(entries: ["https://a.example/x%3Ay", "https://a.example/x:y"], refused: [0, 1]),
    Case(entries: ["https://a.example/x%253Ay", "https://a.example/x:y"], refused: []),
    Case(entries: ["https://a.example/x?a=/", "https://a.example/x?a=%2F"], refused: []),
    Case(entries: ["https://a.example/1 n", "https://a.example/2 n"], refused: [0, 1]),
    Case(
      layout: .basename,
      entries: ["https://a.example/1/n", "https://b.example/2/n", "https://b.example/2/m"],
      refused: [0, 1]
    ),
  ]

  @Test("Equal names in a published tree all fail, and no others", arguments: cases)
  func collisions(_ item: Case) throws {
    let table = EntryTable(
      try item.entries.map { text in
        let words = text.split(separator: " ")
        var entry = ManifestEntry(url: try WebURL(words[0]))
        entry.path = words.count > 1 ? String(words[1]) : nil
        return entry
      }
    )
    var rules = PublishingRules(folder: "/srv/tree")
    rules.layout = item.layout
    let collisions = TreeCollisions(in: table, rules: rules)
    #expect(collisions.failures.keys.sorted() == item.refused)
    #expect(collisions.failures.values.allSatisfy { $0.code == .nameCollision })
    let naming = TreeNaming(of: table, rules: rules)
    #expect(naming.entries.count == item.entries.count - item.refused.count)
    #expect(naming.refused.count == item.refused.count)
  }

  @Test("Equal names with equal digests are one file")
  func equalDigests() throws {
    var rules = PublishingRules(folder: "/srv/tree")
    rules.layout = .pip
    var entries = try ["https://a.example/w.whl", "https://b.example/w.whl"].map {
      ManifestEntry(url: try WebURL($0))
    }
    for index in entries.indices {
      entries[index].digests = [
        ExpectedDigest(algorithm: .sha256, bytes: Array(repeating: 7, count: 32))
      ]
    }
    #expect(TreeCollisions(in: EntryTable(entries), rules: rules).failures.isEmpty)
    entries[1].digests = [
      ExpectedDigest(algorithm: .sha256, bytes: Array(repeating: 8, count: 32))
    ]
    #expect(TreeCollisions(in: EntryTable(entries), rules: rules).failures.count == 2)
  }
}
