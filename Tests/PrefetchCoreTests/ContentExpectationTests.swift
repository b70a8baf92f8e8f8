import PrefetchCore
import Testing

@Suite struct ContentExpectationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var expectation: ContentExpectation
    var type: String? = "image/png"
    var size: Int64 = 100
    var prefix: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10]
    var code: ErrorCode?

    var testDescription: String { name }
  }

  static let png = ContentExpectation.beginnings(of: "89504E47")

  static let rows: [Row] = [
    Row(name: "nothing expected", expectation: .init()),
    Row(name: "the type", expectation: .init(types: ["image/png"])),
    Row(name: "one of the types", expectation: .init(types: ["image/gif", "IMAGE/PNG"])),
    Row(name: "all of a kind", expectation: .init(types: ["image/*"])),
    Row(name: "any type", expectation: .init(types: ["*/*"])),
    Row(
      name: "with parameters",
      expectation: .init(types: ["text/plain"]),
      type: "Text/Plain; a=b"
    ),
    Row(name: "another type", expectation: .init(types: ["image/gif"]), code: .unexpectedContent),
    Row(name: "another kind", expectation: .init(types: ["audio/*"]), code: .unexpectedContent),
    Row(
      name: "a kind is no prefix",
      expectation: .init(types: ["im/*"]),
      code: .unexpectedContent
    ),
    Row(
      name: "no type told",
      expectation: .init(types: ["image/*"]),
      type: nil,
      code: .unexpectedContent
    ),
    Row(name: "no type told, none expected", expectation: .init(minimumSize: 1), type: nil),
    Row(name: "just large enough", expectation: .init(minimumSize: 100)),
    Row(name: "too small", expectation: .init(minimumSize: 101), code: .unexpectedContent),
    Row(name: "just small enough", expectation: .init(maximumSize: 100)),
    Row(name: "too large", expectation: .init(maximumSize: 99), code: .tooLarge),
    Row(name: "the beginning", expectation: .init(beginnings: png)),
    Row(
      name: "another beginning",
      expectation: .init(beginnings: ContentExpectation.beginnings(of: "GIF8")),
      code: .unexpectedContent
    ),
    Row(
      name: "too short for its beginning",
      expectation: .init(beginnings: png),
      prefix: [0x89],
      code: .unexpectedContent
    ),
  ]

  @Test("A body must look as expected", arguments: rows)
  func table(row: Row) {
    let objection = row.expectation.objection(type: row.type, size: row.size, prefix: row.prefix)
    #expect(objection?.code == row.code)
    #expect(row.expectation.isEmpty == (row.name == "nothing expected"))
  }

  @Test(
    "Magic is read as text and, where it fits, as hexadecimal digits",
    arguments: [
      ("%PDF", ["%PDF"]), ("89 50", ["89 50", "\u{89}P"]), ("0x8950", ["0x8950", "\u{89}P"]),
      ("25:50:44", ["25:50:44", "%PD"]), ("CAF", ["CAF"]), ("4142", ["4142", "AB"]), ("", []),
      ("0x", ["0x"]), (" ", [" "]),
    ]
  )
  func magic(text: String, expected: [String]) {
    let beginnings = ContentExpectation.beginnings(of: text)
    #expect(beginnings == expected.map { $0.unicodeScalars.map { UInt8($0.value) } })
  }
}

@Suite struct PageGuardTests {
  static func objects(
    _ url: String,
    type: String?,
    body: String,
    change: (inout ManifestEntry) -> Void = { _ in }
  ) throws -> Bool {
    var entry = ManifestEntry(url: try WebURL(url))
    change(&entry)
    return PageGuard.objection(type: type, prefix: Array(body.utf8), entry: entry) != nil
  }

  @Test(
    "A page is recognised by its first bytes, whatever its type",
    arguments: [
      ("<!DOCTYPE html><title>Log in</title>", true), ("<html lang=en>", true),
      ("\u{FEFF} \r\n\t<!doctype HTML>", true), ("<!-- a > b --> <HTML>", true),
      ("<?xml version=\"1.0\"?>\n<!-- x --><html xmlns=\"\">", true),
      ("<rss><channel>", false), ("{\"a\":\"<html>\"}", false), ("#EXTM3U\n", false), ("", false),
      ("<!doctype svg>", false), ("<!-- never closed <html>", false), ("<", false),
    ]
  )
  func sniffing(body: String, isPage: Bool) throws {
    for suffix in ["png", "ZIP", "json", "m3u8", "xml", "tar.gz"] {
      for type in [nil, "application/octet-stream"] {
        #expect(
          try Self.objects("https://a.example/x.\(suffix)?y=z", type: type, body: body) == isPage
        )
      }
    }
  }

  @Test(
    "A page's type counts unless the bytes cannot begin a page",
    arguments: [
      ("png", "Sign in first", true), ("png", "\u{1}\u{0}PNG", false), ("zip", "", true),
      ("json", "{}", false), ("json", "[1]", false), ("json", "<p>No", true), ("json", "", true),
      ("m3u8", "#EXTM3U", false), ("m3u8", "<body>", true), ("xml", "<rss>", false),
      ("xml", "<?xml version=\"1.0\"?><rss>", false), ("xml", "Sign in first", true),
      ("mpd", "<html>", true), ("vtt", "WEBVTT", false),
    ]
  )
  func types(suffix: String, body: String, isPage: Bool) throws {
    for type in ["text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml"] {
      #expect(try Self.objects("https://a.example/x.\(suffix)", type: type, body: body) == isPage)
    }
  }

  @Test("A URL or type that suggests a page is not guarded against pages")
  func pages() throws {
    for url in [
      "https://a.example/", "https://a.example/x.html", "https://a.example/x.php",
      "https://a.example/download?file=x.zip", "https://a.example/zip",
      "https://a.example/x.txt", "https://json.example/.well-known/x",
    ] {
      #expect(try !Self.objects(url, type: "text/html", body: "<html>"))
    }
    #expect(
      try !Self.objects("https://a.example/x.json", type: "text/html", body: "<html>") {
        $0.mime = "text/html"
      }
    )
    #expect(
      try !Self.objects("https://a.example/x.json", type: nil, body: "<html>") { $0.type = "page" }
    )
  }

  @Test(
    "A declared type outweighs the name",
    arguments: [
      ("image/png", nil), ("application/json", nil), ("application/vnd.apple.mpegurl", nil),
      ("application/zip", nil), ("application/xml", nil), ("audio/mpegurl", nil),
      ("image/svg+xml", nil), ("font/woff2", nil), (nil, "image"), (nil, "video"), (nil, "audio"),
      (nil, "hls"), (nil, "dash"), (nil, "vast"),
    ] as [(String?, String?)]
  )
  func declared(mime: String?, type: String?) throws {
    #expect(
      try Self.objects("https://a.example/watch", type: "text/html", body: "<html>") { entry in
        entry.mime = mime
        entry.type = type
      }
    )
  }
}
