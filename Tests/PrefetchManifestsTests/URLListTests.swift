import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite struct URLListTests {
  static let sha256 = String(repeating: "ab", count: 32)
  static let sha512 = String(repeating: "cd", count: 64)
  static let md5 = String(repeating: "ef", count: 16)

  @Test(
    "Lines of a list become items",
    arguments: [
      ("https://a.example/x\n", ["https://a.example/x"]),
      ("# remark\n\n  \nhttps://a.example/x", ["https://a.example/x"]),
      (
        "\u{FEFF}https://a.example/x\r\nhttps://a.example/y\r\n",
        ["https://a.example/x", "https://a.example/y"]
      ),
      (
        "https://a.example/x\nc/d.png\n/e\n../f\n?g",
        [
          "https://a.example/x", "https://cdn.example/lists/c/d.png", "https://cdn.example/e",
          "https://cdn.example/f", "https://cdn.example/lists/LIST?g",
        ]
      ),
      ("https://a.example/two words.bin", ["https://a.example/two%20words.bin"]),
      ("https://a.example/ä?ö", ["https://a.example/%C3%A4?%C3%B6"]),
      (
        "https://a.example/x\nhttps://a.example/x\nhttps://a.example/y",
        ["https://a.example/x", "https://a.example/y"]
      ),
      ("https://a.example/x#part", ["https://a.example/x"]),
      ("https://a.example/x#sha256=\(sha256)", ["https://a.example/x sha256:abab"]),
      ("https://a.example/x#md5=\(md5)", ["https://a.example/x md5:efef"]),
      ("https://a.example/x#egg=x&sha512=\(sha512)", ["https://a.example/x sha512:cdcd"]),
      (
        "https://a.example/x#md5=\(md5)&sha256=\(sha256)",
        ["https://a.example/x sha256:abab md5:efef"]
      ),
      (
        "@EXPLICIT\nhttps://a.example/x#\(md5)\nhttps://a.example/y#sha256:\(sha256)",
        ["https://a.example/x md5:efef", "https://a.example/y sha256:abab"]
      ),
      ("https://a.example/x#\(md5)", ["https://a.example/x"]),
      (
        "https://a.example/x\thttps://b.example/x\t\thttps://b.example/x\thttp://c.example/x",
        ["https://a.example/x or https://b.example/x or http://c.example/x"]
      ),
      (
        "https://a.example/b.iso\thttps://m.example/b.iso\n  out=b.iso\n\tchecksum=sha-256=\(sha256)\n\n  checksum=md5=\(md5)",
        [
          "https://a.example/b.iso path=b.iso sha256:abab md5:efef or https://m.example/b.iso"
        ]
      ),
      (
        "https://a.example/x\n  https://a.example/y?a=b",
        ["https://a.example/x", "https://a.example/y?a=b"]
      ),
      (
        "https://a.example/x\n  split=5\n  split=6\n  header=A: b",
        [
          "https://a.example/x",
          "warning: line 2, column 3: the option `split` has no meaning here",
          "warning: line 4, column 3: the option `header` has no meaning here",
        ]
      ),
      (
        "https://a.example/x/b%20c.iso\n  dir=./isos/",
        ["https://a.example/x/b%20c.iso path=isos/b c.iso"]
      ),
      ("https://a.example/x\n  dir=a/b\n  out=c", ["https://a.example/x path=a/b/c"]),
      ("https://a.example/x/\n  out=c/d\n  dir=a", ["https://a.example/x/ path=a/c/d"]),
      ("https://a.example/x/\n  dir=a\n  out=c", ["https://a.example/x/ path=a/c"]),
      ("https://a.example/x\n  dir=.", ["https://a.example/x"]),
      ("https://a.example/x\n  dir=./\n  out=c", ["https://a.example/x path=c"]),
      (
        "https://a.example/x\thttps://\t/y",
        [
          "https://a.example/x or https://cdn.example/y",
          "warning: line 1, column 21: the mirror is not an http or https URL, or its digest is invalid or differs",
        ]
      ),
    ] as [(String, [String])]
  )
  func good(text: String, expected: [String]) throws {
    #expect(try readText(text).get().everything == expected)
  }

  @Test(
    "An invalid line of a list fails alone with its number",
    arguments: [
      (
        "ftp://a.example/x",
        "ftp://a.example/x: bad_url: line 2, column 1: it has the scheme `ftp`; only `http` and `https` are fetched"
      ),
      (
        "https://u:p@a.example/",
        "https://***@a.example/: bad_url: line 2, column 1: it holds user-info; put credentials into `headers`"
      ),
      (
        "  https://a.example/\\x",
        "https://a.example/\\x: bad_url: line 2, column 3: it holds the character U+5C, which no URL may hold"
      ),
      (
        "https://a.example/ä#sha256=12",
        "https://a.example/%C3%A4: manifest_invalid: line 2, column 20: `#sha256=12` is not a sha256 in hexadecimal or base64"
      ),
      (
        "https://a.example/y\n  out=../y",
        "https://a.example/y: unsafe_name: line 3, column 7: `out`: the name `../y` would leave the folder"
      ),
      (
        "https://a.example/y\n  out=/y\n  checksum=md5=\(md5)",
        "https://a.example/y: unsafe_name: line 3, column 7: `out`: the name `/y` is absolute"
      ),
      (
        "https://a.example/y\n  dir=/tmp",
        "https://a.example/y: unsafe_name: line 3, column 7: `dir`: the name `/tmp` is absolute"
      ),
      (
        "https://a.example/y\n  dir=a/../..",
        "https://a.example/y: unsafe_name: line 3, column 7: `dir`: the name `a/../..` would leave the folder"
      ),
      (
        "https://a.example/y/\n  dir=a",
        "https://a.example/y/: bad_name: line 2, column 1: `dir`: its URL ends with no file name; `out` can give it one"
      ),
      (
        "https://a.example/y\n checksum=sha-256=zz",
        "https://a.example/y: manifest_invalid: line 3, column 11: `checksum` must be an algorithm and a digest, such as `sha-256=` and 64 digits"
      ),
      (
        "https://a.example/y\n checksum=crc=1",
        "https://a.example/y: manifest_invalid: line 3, column 11: `checksum` must be an algorithm and a digest, such as `sha-256=` and 64 digits"
      ),
    ]
  )
  func refused(line: String, refusal: String) throws {
    let manifest = try readText("https://a.example/x\n\(line)\nhttps://a.example/z").get()
    #expect(manifest.lines == ["https://a.example/x", "https://a.example/z"])
    #expect(manifest.refusals == [refusal])
    #expect(manifest.itemCount == 3)
  }

  @Test("A line that is not UTF-8 fails alone")
  func encoding() throws {
    let bytes = Array("https://a.example/x\nhttps://a.example/".utf8) + [0xE4, 0x0A]
    let source = ManifestSource(bytes: .file("l"), base: nil, mime: nil, name: "l")
    let manifest = try readBytes(bytes, source).get()
    #expect(manifest.rejected.map(\.failure.message) == ["line 2, column 1: this is not UTF-8"])
  }

  @Test("A list without any usable line fails as a whole")
  func nothing() {
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1, column 20: `#sha256=1` is not a sha256 in hexadecimal or base64"
      )
    ) { try readText("https://a.example/x#sha256=1").get() }
  }

  @Test("A list without an address may have only absolute URLs")
  func homeless() throws {
    let manifest = try readText("https://a.example/x\nx\n", base: nil).get()
    #expect(manifest.lines == ["https://a.example/x"])
    #expect(
      manifest.refusals == [
        "x: bad_url: line 2, column 1: it is not an absolute URL; write it with `https://`"
      ]
    )
  }

  @Test("Plain lines are read into columns")
  func columns() throws {
    let text = (0..<20_000).map { "https://a.example/\($0)\n" }.joined()
    let manifest = try readText(text).get()
    #expect(manifest.entries.count == 20_000)
    #expect(!manifest.entries.indices.contains { manifest.entries.hasExtras(at: $0) })
  }

  @Test(
    "The item after the millionth is refused by its line",
    .enabled(if: Campaign.isLong)
  )
  func million() {
    let bytes = Array(repeatElement(Array("/\n".utf8), count: 1_000_001).joined())
    let base = try? WebURL("https://a.example/")
    var source = ManifestSource(bytes: .file("l"), base: base, mime: nil, name: "l")
    source.rules.format = .list
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1000001, column 1: it lists more than 1000000 items, which is as many as are read"
      )
    ) { try readBytes(bytes, source).get() }
  }

  @Test("A document is limited to a million items and a gigabyte of URLs")
  func limit() {
    let words = "which is as many as are read"
    #expect(ManifestBounds.surplus(items: 1_000_000, bytes: 1 << 30) == nil)
    #expect(
      ManifestBounds.surplus(items: 1_000_001, bytes: 0)
        == "it lists more than 1000000 items, \(words)"
    )
    #expect(
      ManifestBounds.surplus(items: 1, bytes: 1 << 30 + 1)
        == "its URLs, made whole, come to more than 1073741824 bytes"
    )
  }
}
