import PrefetchCore
import Testing

@Suite struct ManifestSelectionTests {
  @Test(
    "A pattern without a slash matches the last part, and with one the whole path",
    arguments: [
      ("*.gz", "/a/b/x.gz", true), ("*.gz", "/a/x.gz/b", false), ("x?", "xy", true),
      ("x?", "x/", false), ("[a-c]*", "/dir/build", true), ("[!a-c]*", "/dir/build", false),
      ("*", "/anything/at.all", true), ("**", "/anything/at.all", true), ("", "", true),
      ("", "a", false), ("a", "", false), ("*", "", true),
      ("/x.gz", "/x.gz", true), ("/x.gz", "/a/x.gz", false), ("a/*", "/a/x", true),
      ("a/*", "/a/b/x", false), ("a/**", "/a/b/x", true), ("a/**", "/a", false),
      ("a/", "/a/b/x", true), ("a/", "/b/a/x", false), ("**/a/*", "/a/x", true),
      ("**/a/*", "/b/c/a/x", true), ("**/a/*", "/b/ca/x", false), ("a/**/b", "/a/b", true),
      ("a/**/b", "/a/x/y/b", true), ("a/**/b", "/a/x/yb", false), ("a**b", "ab", true),
      ("a/**b", "/a/x/yb", true), ("a/*b*/c", "/a/xbx/c", true), ("a/*b*/c", "/a/x/b/c", false),
      ("**/*.[ch]", "/s/t/u.c", true), ("**/*.[ch]", "/s/t/u.cc", false),
      ("a/[/]b", "/a//b", false), ("ü*", "/x/ünï", true), ("**/x/**/y", "/x/x/a/y", true),
      ("**/x/**/y", "/x/a/y/z", false), ("*a*b*/*c*d*", "/xaxbx/xcxdx", true),
      ("*a*b*/*c*d*", "/xaxbx/xcx/dx", false),
    ]
  )
  func patterns(pattern: String, path: String, isMatch: Bool) {
    #expect(PathPattern(pattern).matches(PathPattern.Path(path)) == isMatch)
  }

  @Test("Every pattern ends in bounded time")
  func backtrackingBounded() {
    let text = String(repeating: "a", count: 2000) + "/" + String(repeating: "a/", count: 500)
    let pattern =
      String(repeating: "*a", count: 100) + "/**" + String(repeating: "/**/a", count: 50)
    #expect(!PathPattern(pattern + "/b").matches(PathPattern.Path(text)))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var include: [String] = []
    var exclude: [String] = []
    var keep: Int?
    var expected: [String]

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "everything", expected: ["a.gz", "b/c.txt", "d.txt", "old", "ä ö", "new"]),
    Row(name: "some", include: ["*.gz", "old"], expected: ["a.gz", "old"]),
    Row(name: "a folder", include: ["b/"], expected: ["b/c.txt"]),
    Row(name: "a published name and not the path", include: ["published"], expected: ["new"]),
    Row(name: "what the URL has encoded", include: ["ä*"], expected: ["ä ö"]),
    Row(name: "all but some", exclude: ["*.txt"], expected: ["a.gz", "old", "ä ö", "new"]),
    Row(name: "some but some", include: ["*.txt"], exclude: ["b/**"], expected: ["d.txt"]),
    Row(name: "none", include: ["nothing"], expected: []),
    Row(name: "the newest, in the order of the list", keep: 2, expected: ["old", "new"]),
    Row(name: "those without a time after all others", keep: 3, expected: ["a.gz", "old", "new"]),
    Row(name: "the newest of those taken", include: ["*.txt"], keep: 1, expected: ["b/c.txt"]),
    Row(
      name: "at most as many as exist",
      keep: 100,
      expected: ["a.gz", "b/c.txt", "d.txt", "old", "ä ö", "new"]
    ),
  ]

  /// Returns a table with two dated entries, one of them with another id, and plain ones.
  private func table() throws -> EntryTable {
    var table = EntryTable()
    let base = try WebURL("https://a.example/list")
    table.resolveReferences(against: base)
    for path in ["a.gz", "b/c.txt", "d.txt"] {
      let bytes = Array("\(path)?q=x.gz".utf8)
      let address = try #require(unsafe table.resolve(bytes.span.bytes))
      unsafe table.appendURL(bytes.span.bytes, at: address, id: nil, .init())
    }
    var old = ManifestEntry(url: try WebURL("https://a.example/old"))
    old.published = Instant(seconds: 1)
    table.append(old)
    table.append(ManifestEntry(url: try WebURL("https://a.example/%C3%A4%20%C3%B6")))
    var new = ManifestEntry(url: try WebURL("https://a.example/new"))
    new.published = Instant(seconds: 2)
    new.path = "dir/published"
    table.append(new)
    return table
  }

  private func name(_ entry: ManifestEntry) -> String {
    entry.url.path == "/%C3%A4%20%C3%B6" ? "ä ö" : String(entry.url.path.dropFirst())
  }

  @Test("A segment selects entries of a manifest by its rules", arguments: rows)
  func selection(row: Row) throws {
    var rules = ManifestRules()
    rules.included = row.include
    rules.excluded = row.exclude
    rules.kept = row.keep
    let selected = ManifestSelection(rules).apply(to: try table())
    #expect(selected.map(name) == row.expected)
    for (position, entry) in selected.enumerated() {
      #expect(selected.position(of: selected.key(at: position)) == position)
      #expect(try table().contains(entry))
    }
  }

  @Test("A bad entry that is not selected breaks no rule")
  func rejected() {
    var rules = ManifestRules()
    rules.excluded = ["*.txt"]
    let failure = Failure(.badURL, "bad")
    let rejected = ["ftp://h/a.txt?x", "ftp://h/a", "../x.txt", ""].map {
      RejectedEntry(url: $0, failure: failure)
    }
    #expect(ManifestSelection(rules).apply(to: rejected).map(\.url) == ["ftp://h/a", ""])
  }
}
