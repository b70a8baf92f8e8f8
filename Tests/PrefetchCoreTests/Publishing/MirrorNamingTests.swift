import PrefetchCore
import Testing

@Suite("The name of an item in a mirror")
struct MirrorNamingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var urls: [String]
    var paths: [String?] = []
    var cut = 0
    var namesHosts: Bool?
    /// Names; nil for refused URLs, whose codes follow in order.
    var names: [String?]
    var codes: [ErrorCode] = []

    var testDescription: String { "\(urls) cut \(cut)" }
  }

  static let cases: [Case] = [
    Case(
      urls: ["https://a.example/x/y", "https://a.example/z?q=1/2"],
      names: ["x/y", "z?q=1%2F2"]
    ),
    Case(
      urls: ["https://a.example/", "https://a.example/x/"],
      names: ["index.html", "x/index.html"]
    ),
    Case(urls: ["https://a.example/x", "http://a.example/y"], names: ["x", "y"]),
    Case(
      urls: ["https://a.example/x", "https://a.example:444/x"],
      names: ["a.example/x", "a.example:444/x"]
    ),
    Case(urls: ["https://a.example/x"], namesHosts: true, names: ["a.example/x"]),
    Case(
      urls: ["https://a.example/x/y", "https://b.example/z"],
      paths: ["p/q", nil],
      names: ["p/q", "z"]
    ),
    Case(urls: ["https://a.example/x/y/z", "https://a.example/w"], cut: 1, names: ["y/z", "w"]),
    Case(urls: ["https://a.example/x/y/z"], cut: 9, names: ["z"]),
    Case(urls: ["https://a.example/x/"], cut: 1, names: ["index.html"]),
    Case(
      urls: ["https://a.example/x/y", "https://b.example/z"],
      cut: 1,
      names: ["a.example/y", "b.example/z"]
    ),
    Case(urls: ["https://a.example/x"], paths: ["p/q/r"], cut: 1, names: ["q/r"]),
    Case(
      urls: ["https://a.example/.prefetch/x", "https://a.example/y"],
      names: [nil, "y"],
      codes: [.badName]
    ),
    Case(
      urls: ["https://a.example/x", "https://a.example/y"],
      paths: [".prefetch", ".PREFETCH/lock"],
      names: [nil, nil],
      codes: [.badName, .badName]
    ),
    Case(urls: ["https://a.example/x"], paths: ["a/.prefetch/x"], names: ["a/.prefetch/x"]),
    Case(urls: ["https://a.example//etc/x"], names: [nil], codes: [.badName]),
  ]

  @Test(
    "A name in a mirror has its host only with several hosts, and loses leading folders",
    arguments: cases
  )
  func naming(_ item: Case) throws {
    var entries: [ManifestEntry] = []
    for (number, url) in item.urls.enumerated() {
      var entry = ManifestEntry(url: try WebURL(url))
      entry.path = item.paths.isEmpty ? nil : item.paths[number]
      entries.append(entry)
    }
    var rules = PublishingRules(folder: "/srv/tree")
    rules.mirror = MirrorRules()
    rules.mirror?.cutFolders = item.cut
    rules.mirror?.namesHosts = item.namesHosts
    let naming = TreeNaming(of: EntryTable(entries), rules: rules)
    let made = try naming.entries.map { try TreeName(naming.rules).make(of: $0, body: nil) }
    #expect(made == item.names.compactMap(\.self))
    #expect(naming.refused.map(\.failure.code) == item.codes)
  }

  @Test(
    "The identity of a mirror is recognised in both its forms, and no other name is",
    arguments: [
      (MirrorRules.identity(sharingPlacesFrom: nil), true),
      (MirrorRules.identity(sharingPlacesFrom: "/srv/isos"), true), ("mirror of isos", false),
      ("mirrors", false), ("/etc/mirror", false), ("", false),
    ]
  )
  func identity(text: String, isMirror: Bool) {
    #expect(MirrorRules.isIdentity(text) == isMirror)
  }
}
