import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("Generic JSON") struct GenericJSONTests {
  private static let sha256 = LockReader.sha256
  private static let base64 = LockReader.base64

  private static func rules(
    items: String? = nil,
    url: [String] = [],
    sha256: String? = nil,
    size: String? = nil
  ) -> ManifestRules {
    var rules = ManifestRules()
    rules.pointers.items = items
    rules.pointers.urls = url
    rules.pointers.sha256 = sha256
    rules.pointers.size = size
    return rules
  }

  @Test(
    "Known JSON documents need no pointers",
    arguments: [
      ("[]", ""),
      (
        #"["a.js", "/b.js", "https://x.example/c.js"]"#,
        "https://cdn.example/app/a.js\nhttps://cdn.example/b.js\nhttps://x.example/c.js"
      ),
      (
        #"[{"url": "a"}, {"href": "b"}, {"src": "c"}, {"url": null, "src": "d"}]"#,
        "https://cdn.example/app/a\nhttps://cdn.example/app/b\nhttps://cdn.example/app/c\n"
          + "https://cdn.example/app/d"
      ),
      (
        """
        [{"url": "a.js", "revision": null}, {"url": "b.js", "revision": "41f2"}, "c.js",
         {"url": "d.js", "revision": null, "integrity": "sha256-\(base64)"}]
        """,
        "https://cdn.example/app/a.js immutable\n"
          + "https://cdn.example/app/b.js immutable revision=41f2\n"
          + "https://cdn.example/app/c.js immutable\n"
          + "https://cdn.example/app/d.js sha256:\(sha256) immutable"
      ),
      (
        """
        {"main.js": {"file": "assets/main.1.js", "css": ["assets/a.css"], "imports": ["_x.js"],
          "isEntry": true}, "_x.js": {"file": "assets/x.2.js", "assets": ["assets/p.png"]}}
        """,
        "https://cdn.example/app/assets/main.1.js\nhttps://cdn.example/app/assets/a.css\n"
          + "https://cdn.example/app/assets/x.2.js\nhttps://cdn.example/app/assets/p.png"
      ),
      (
        #"{"files": {"main.js": "/static/main.1.js"}, "entrypoints": ["static/main.1.js"]}"#,
        "https://cdn.example/static/main.1.js"
      ),
      (
        """
        {"lockFileVersion": 11, "registryFileHashes": {
          "https://bcr.example/bazel_registry.json": "\(sha256)",
          "https://bcr.example/modules/x/1/MODULE.bazel": null}}
        """,
        "https://bcr.example/bazel_registry.json sha256:\(sha256) immutable\n"
          + "note left out: `https://bcr.example/modules/x/1/MODULE.bazel` that the registry did not have"
      ),
    ]
  )
  func known(_ text: String, _ lines: String) {
    #expect(LockReader.json.read(text).lines == lines)
  }

  @Test("Pointers select items and their facts")
  func pointers() {
    let text = """
      {"d/a~t": {"files": [
        {"at": {"url": "a"}, "sum": {"sha256": "\(Self.sha256)"}, "len": 7},
        {"at": {"url": "b", "more": ["c", "e"]}, "sum": {"sha256": "sha256-\(Self.base64)"}},
        {"at": {}}
      ]}}
      """
    let rules = Self.rules(
      items: "/d~1a~0t/files",
      url: ["/at/url", "/at/more/*"],
      sha256: "/sum/sha256",
      size: "/len"
    )
    #expect(
      LockReader.json.read(text, rules: rules).lines
        == "https://cdn.example/app/a sha256:\(Self.sha256) size=7\n"
        + "https://cdn.example/app/b sha256:\(Self.sha256)\n"
        + "https://cdn.example/app/c\nhttps://cdn.example/app/e"
    )
  }

  @Test(
    "A pointer selects its node",
    arguments: [
      ("/x/*", [], #"{"x": {"k": "a", "l": "b"}}"#, "a b"),
      ("/x", [], #"{"x": ["a", "b"]}"#, "a b"),
      ("/x/1", [], #"{"x": ["a", "b"]}"#, "b"),
      ("/*", ["/file"], #"{"k": {"file": "a"}, "l": {}}"#, "a"),
      ("", ["/url"], #"[{"url": "a"}]"#, "a"),
      (nil, ["/icon", "/image"], #"{"icon": "a", "image": "b"}"#, "a b"),
      ("/~01", [], #"{"~1": ["a"]}"#, "a"),
      ("/x/*", [], #"{"x": []}"#, ""),
    ] as [(String?, [String], String, String)]
  )
  func pointing(_ items: String?, _ url: [String], _ text: String, _ names: String) throws {
    let manifest = try LockReader.json.read(text, rules: Self.rules(items: items, url: url)).get()
    #expect(
      manifest.entries.map { String($0.url.path.dropFirst(5)) }.joined(separator: " ") == names
    )
  }

  @Test(
    "Unreadable JSON is refused with position and reason",
    arguments: [
      ("", nil, [], "manifest_invalid: the document is empty"),
      ("[1,]", nil, [], "manifest_invalid: line 1, column 3: trailing comma before `]`"),
      ("7", nil, [], "manifest_invalid: line 1, column 1: it is a number, no list of items"),
      (
        #"{"error": "no"}"#, nil, [],
        "manifest_invalid: line 1, column 1: it is JSON of an unknown kind; set `json.items` "
          + "to the place of its items"
      ),
      (
        "{\"a\": 1,\n \"b\": {\"c\": 2}}", "/b/items", [],
        "manifest_invalid: line 2, column 7: `json.items` `/b/items` finds nothing: what the first 1 "
          + "of its steps lead to has no `items`; its keys are `c`"
      ),
      (
        "[1, 2]", "/7", [],
        "manifest_invalid: line 1, column 1: `json.items` `/7` finds nothing: the document is a "
          + "list of 2, which has no `7`"
      ),
      (
        #"{"a": "x"}"#, "/a/*", [],
        "manifest_invalid: line 1, column 7: `json.items` `/a/*` leads to text, which holds no items"
      ),
      (
        #"[{"name": "a"}]"#, nil, ["/url", "/href"],
        "manifest_invalid: line 1, column 2: `json.url` `/url`, `/href` finds nothing in any item: "
          + "in the first, the document has no `url`; its keys are `name`"
      ),
      (
        "[\n  7\n]", nil, [],
        "manifest_invalid: line 2, column 3: a URL must be text, not a number"
      ),
      (
        #"[{"name": "a"}]"#, nil, [],
        "manifest_invalid: line 1, column 2: an item is a URL, or has one under `url`, `href` or "
          + "`src`; this one is a mapping"
      ),
    ] as [(String, String?, [String], String)]
  )
  func faults(_ text: String, _ items: String?, _ url: [String], _ message: String) {
    #expect(
      LockReader.json.read(text, rules: Self.rules(items: items, url: url)).lines == message
    )
  }

  @Test("An invalid item of JSON fails alone")
  func rejected() {
    let text = """
      [{"url": "a", "revision": "1"}, {"url": "ftp://x/", "revision": "1"},
       {"url": "b", "revision": "1", "integrity": "md6-x"}]
      """
    #expect(
      LockReader.json.read(text).lines == """
        https://cdn.example/app/a immutable revision=1
        rejected ftp://x/: bad_url: line 1, column 41: it has the scheme `ftp`; only `http` and `https` are fetched
        rejected https://cdn.example/app/b: manifest_invalid: line 2, column 45: `integrity` holds no \
        digest that is known
        """
    )
  }
}
