import PrefetchCore
import Testing

/// Paths of items in published trees.
@Suite("A name in a published tree")
struct TreeNameTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var url: String
    var layout: PublishingRules.Layout
    var name: String?
    var path: String?
    var code: ErrorCode?

    init(
      _ url: String,
      _ layout: PublishingRules.Layout,
      path: String? = nil,
      _ name: String?,
      code: ErrorCode? = nil
    ) {
      self.url = url
      self.layout = layout
      self.path = path
      self.name = name
      self.code = code
    }

    init(_ url: String, path: String? = nil, _ name: String?, code: ErrorCode? = nil) {
      self.init(url, .url, path: path, name, code: code)
    }

    var testDescription: String { "\(layout.rawValue): \(path ?? url)" }
  }

  static let long = String(repeating: "n", count: 300)

  static let cases = [
    Case("https://example.com/a/b.txt", "example.com/a/b.txt"),
    Case("https://example.com:8443/a", "example.com:8443/a"),
    Case("http://[::1]:8080/a", "[::1]:8080/a"),
    Case("https://example.com/", "example.com/index.html"),
    Case("https://example.com/docs/", "example.com/docs/index.html"),
    Case("https://example.com/a%20b/%C3%A9.txt", "example.com/a b/é.txt"),
    Case("https://example.com/a%2Fb", "example.com/a%2Fb"),
    Case("https://example.com/d%3A1/a%3Ab%2B%23%25.txt", "example.com/d:1/a:b+#%25.txt"),
    Case("https://example.com/d%3A1/a%3Ab%2B%23%25.txt", .basename, "a:b+#%.txt"),
    Case("https://example.com/a%00b", "example.com/a%00b"),
    Case("https://example.com/a%0Ab", "example.com/a%0Ab"),
    Case("https://example.com/%FF", "example.com/%FF"),
    Case("https://example.com/a%3Fb", "example.com/a%3Fb"),
    Case("https://example.com/a?b", "example.com/a?b"),
    Case("https://example.com/a?b=/c&d=%2F", "example.com/a?b=%2Fc&d=%252F"),
    Case("https://example.com/a?", "example.com/a?"),
    Case("https://example.com/a/../b", "example.com/b"),
    Case("https://example.com/%2e%2e/%2E%2E/etc/passwd", "example.com/etc/passwd"),
    Case("https://example.com/..%2f..%2fetc", "example.com/..%2f..%2fetc"),
    Case("https://example.com/a//b", nil, code: .badName),
    Case("https://example.com/\(long)", nil, code: .badName),
    Case("https://example.com/.prefetch-x", nil, code: .badName),
    Case(
      "https://example.com/" + Array(repeating: "nine-nine", count: 420).joined(separator: "/"),
      nil,
      code: .badName
    ),
    Case(
      "https://example.com/a",
      path: String(repeating: "d/", count: 99) + "f",
      String(repeating: "d/", count: 99) + "f"
    ),
    Case(
      "https://example.com/a",
      path: String(repeating: "d/", count: 100) + "f",
      nil,
      code: .badName
    ),
    Case("https://example.com/a", path: "b/c.txt", "b/c.txt"),
    Case("https://example.com/a", path: "/etc/passwd", nil, code: .unsafeName),
    Case("https://example.com/a", path: "../b", nil, code: .unsafeName),
    Case("https://example.com/a", path: "b/../../c", nil, code: .unsafeName),
    Case("https://example.com/a", path: "b/./c", nil, code: .badName),
    Case("https://example.com/a", path: "b\u{0}c", nil, code: .badName),
    Case("https://example.com/a", path: "b\nc", nil, code: .badName),
    Case("https://example.com/a", path: "b\u{1B}[2Jc", nil, code: .badName),
    Case("https://example.com/a", path: "", nil, code: .badName),
    Case("https://example.com/a/b.txt?token=1", .basename, "b.txt"),
    Case("https://example.com/a/My%20File%2B1.txt", .basename, "My File+1.txt"),
    Case("https://example.com/a", .basename, path: "b/c.txt", "b/c.txt"),
    Case("https://example.com/a/", .basename, nil, code: .badName),
    Case("https://example.com/..%2f..%2fetc%2fpasswd", .basename, nil, code: .unsafeName),
    Case("https://example.com/a%00b", .basename, nil, code: .badName),
    // Swift treats a slash with a combining mark as one character.
    Case("https://example.com/..%2F%CC%81x", .basename, nil, code: .unsafeName),
    Case("https://example.com/%2F%CC%81etc", .basename, nil, code: .unsafeName),
    Case("https://example.com/..%2F%CC%81x", .pip, nil, code: .unsafeName),
    Case("https://proxy.example.org/m.org/..%2F%CC%81/@v/a.zip", .go, nil, code: .unsafeName),
    Case("https://example.com/a/%CC%81b", "example.com/a/\u{301}b"),
    Case("https://example.com/a", path: "../\u{301}x", nil, code: .unsafeName),
    Case("https://example.com/a", path: "/\u{301}x", nil, code: .unsafeName),
    Case("https://example.com/a", path: "a//\u{301}x", nil, code: .badName),
    Case("https://example.com/a%0Ab", .basename, nil, code: .badName),
    Case("https://example.com/%FF", .basename, "%FF"),
    Case(
      "https://files.example.org/packages/left-1.0%2Blocal-py3-none-any.whl",
      .pip,
      "left-1.0+local-py3-none-any.whl"
    ),
    Case("https://files.example.org/x", .pip, path: "deep/left-1.0.tar.gz", "left-1.0.tar.gz"),
    Case(
      "https://proxy.example.org/example.com/!left/@v/v1.0.0.zip",
      .go,
      "example.com/!left/@v/v1.0.0.zip"
    ),
    Case(
      "https://host.example.org/api/go/example.com/left/@v/v1.0.0%2Bincompatible.mod",
      .go,
      "example.com/left/@v/v1.0.0+incompatible.mod"
    ),
    Case("https://proxy.example.org/left.zip", .go, nil, code: .manifestInvalid),
    Case("https://registry.example.org/left.tgz", .npm, nil, code: .manifestInvalid),
    Case("https://example.com/a.zip", .bazel, nil),
    Case("https://static.example.org/a/1.0/download", .cargo, path: "a-1.0.crate", "a-1.0.crate"),
    Case("https://index.example.org/1/a", .cargo, path: "index/1/a", "index/1/a"),
    Case("https://static.example.org/a-1.0.crate", .cargo, "a-1.0.crate"),
    Case("https://static.example.org/config.toml", .cargo, nil, code: .badName),
    Case("https://static.example.org/a", .cargo, path: "config.toml", nil, code: .badName),
    Case("https://static.example.org/a", .cargo, path: "bin/a.crate", nil, code: .badName),
    Case(
      "https://static.example.org/a",
      .cargo,
      path: "index/../config.toml",
      nil,
      code: .unsafeName
    ),
    Case("https://static.example.org/a", .cargo, path: "../a.crate", nil, code: .unsafeName),
    Case("https://static.example.org/a", .cargo, path: "index", nil, code: .badName),
    Case("https://r.example.org/left/-/left-1.0.tgz", .yarn, path: "x", "left-1.0.tgz"),
    Case("https://r.example.org/@s/left/-/left-1.0.tgz", .yarn, "@s-left-1.0.tgz"),
    Case("https://r.example.org/npm/@s%2fleft/-/left-1.0.tgz", .yarn, "@s-left-1.0.tgz"),
    Case("https://r.example.org/@s/left/_attachments/left-1.0.tgz", .yarn, "@s-left-1.0.tgz"),
    Case("https://r.example.org/@s/left/-/@s/left-1.0.tgz", .yarn, "@s-left-1.0.tgz"),
    Case("https://r.example.org/@/left/-/left-1.0.tgz", .yarn, "left-1.0.tgz"),
    Case("https://c.example.org/@s/tar.gz/0123", .yarn, "0123"),
    Case("https://r.example.org/left/-/..%2Fx", .yarn, "..%2Fx"),
    Case("https://r.example.org/left/-/", .yarn, nil, code: .badName),
  ]

  @Test("A name in a published tree is made of the URL or the path, or refused", arguments: cases)
  func naming(_ item: Case) throws {
    var entry = ManifestEntry(url: try WebURL(item.url))
    entry.path = item.path
    var rules = PublishingRules(folder: "/srv/tree")
    rules.layout = item.layout
    do throws(Failure) {
      let name = try TreeName(rules).make(of: entry, body: nil)
      #expect(name == item.name)
      #expect(item.code == nil, "it got the name \(name ?? "-")")
    } catch {
      #expect(error.code == item.code, "\(error.message)")
      #expect(error.message.utf8.allSatisfy { $0 >= 0x20 })
    }
  }

  @Test("A name in npm's store is the strongest declared digest")
  func npm() throws {
    var rules = PublishingRules(folder: "/srv/tree")
    rules.layout = .npm
    var entry = ManifestEntry(url: try WebURL("https://registry.example.org/left.tgz"))
    entry.digests = [
      ExpectedDigest(algorithm: .sha1, bytes: Array(repeating: 0x11, count: 20)),
      ExpectedDigest(algorithm: .sha512, bytes: [0xAB, 0xCD] + Array(repeating: 0xEF, count: 62)),
    ]
    let rest = String(repeating: "ef", count: 62)
    #expect(
      try TreeName(rules).make(of: entry, body: nil) == "_cacache/content-v2/sha512/ab/cd/\(rest)"
    )
    entry.digests.removeLast()
    let ones = String(repeating: "11", count: 18)
    #expect(
      try TreeName(rules).make(of: entry, body: nil) == "_cacache/content-v2/sha1/11/11/\(ones)"
    )
    entry.digests = [ExpectedDigest(algorithm: .md5, bytes: Array(repeating: 1, count: 16))]
    #expect(throws: Failure.self) { try TreeName(rules).make(of: entry, body: nil) }
  }

  @Test("A name in Bazel's cache is the SHA-256, declared or computed")
  func bazel() throws {
    var rules = PublishingRules(folder: "/srv/tree")
    rules.layout = .bazel
    let digest = try #require(ContentDigest(bytes: Array(repeating: 0x5A, count: 32)))
    var entry = ManifestEntry(url: try WebURL("https://example.com/a.zip"))
    let name = "content_addressable/sha256/\(digest.hexadecimal)/file"
    #expect(try TreeName(rules).make(of: entry, body: digest) == name)
    entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest.bytes)]
    #expect(try TreeName(rules).make(of: entry, body: nil) == name)
  }
}
