import PrefetchTestSupport

/// Bodies that are too large, empty, or contrary to their declaration.
enum BodyRows {
  static let all = empty + large + declared + expected + pages

  private static let empty = [
    Row("an empty body", "added 0 x1", "empty 3 x1", "added 0 x1") { _ in .respond(200) }
      .with { $0.body = [] },
    Row("an empty body in chunks", "added 0 x1", "empty 3 x1", "added 0 x1") { _ in
      .chunked(chunks: [])
    }
    .with { $0.body = [] },
    Row("an empty body that is declared so", "added 0 x1", "updated 0 x1", "added 0 x1") { _ in
      .respond(200)
    }
    .with {
      $0.body = []
      $0.item = "size: SIZE, sha256: NEW"
    },
  ]

  private static let large =
    [5_000_000_000, 4_194_305, Int.max].map { length in
      Row("\(length) bytes announced", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1") { _ in
        .raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
      }
    } + [
      Row("endless chunks", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1") { scene in
        let head = scene.head(200, ["Transfer-Encoding: chunked"])
        return Script([
          .send(head), .repeatForever(Array("1000\r\n".utf8) + page(4_096) + Array("\r\n".utf8)),
        ])
      },
      Row("one endless chunk", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1") { scene in
        let head = scene.head(200, ["Transfer-Encoding: chunked"])
        return Script([
          .send(head + Array("7fffffffffffffff\r\n".utf8)), .repeatForever(page(65_536)),
        ])
      },
      Row("an endless body", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1") { scene in
        Script([.send(scene.head(200, [])), .repeatForever(page(65_536))])
      },
      Row("an endless body over HTTP/1.0", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1") {
        _ in
        Script([.send(Array("HTTP/1.0 200 OK\r\n\r\n".utf8)), .repeatForever(page(65_536))])
      },
      Row("a body above the segment's limit", "too_large 4 x1", "too_large 3 x1", "too_large 4 x1")
      { _ in .respond(200, body: page(3_500_000)) }
      .with { $0.segment = "max_file_size: 3MB" },
      Row("an endless error page", "http 4 x1", "http 3 x1", "http 4 x1") { scene in
        Script([.send(scene.head(403, [])), .repeatForever(page(65_536))])
      },
      Row("an endless 404 page in chunks", "gone 4 x1", "gone 3 x1", "gone 4 x1") { scene in
        let head = scene.head(404, ["Transfer-Encoding: chunked"])
        return Script([
          .send(head), .repeatForever(Array("1000\r\n".utf8) + page(4_096) + Array("\r\n".utf8)),
        ])
      },
    ]

  private static let declared = [
    Row(
      "another digest than declared",
      "digest_mismatch 5 x1",
      "digest_mismatch 5 x1",
      "digest_mismatch 5 x1"
    ) {
      $0.whole()
    }
    .with { $0.item = "sha256: \(Digest.hexadecimal("other"))" },
    Row(
      "another SHA-512 than declared",
      "digest_mismatch 5 x1",
      "digest_mismatch 5 x1",
      "digest_mismatch 5 x1"
    ) {
      $0.whole()
    }
    .with { $0.item = "sha256: NEW, sha512: \(String(repeating: "ab", count: 64))" },
    Row("another size than declared", "corrupted 4 x1", "corrupted 3 x1", "corrupted 4 x1") {
      $0.whole()
    }
    .with { $0.item = "size: 4321" },
    Row("the size and digest that are declared", "added 0 x1", "updated 0 x1", "added 0 x1") {
      $0.whole()
    }
    .with { $0.item = "size: SIZE, sha256: NEW" },
    Row(
      "another type than declared",
      "unexpected_content 4 x1",
      "unexpected_content 3 x1",
      "unexpected_content 4 x1"
    ) {
      $0.whole("Content-Type: text/plain")
    }
    .with { $0.item = "mime: image/png, sha256: NEW" },
    Row("the declared type in other letters", "added 0 x1", "updated 0 x1", "added 0 x1") {
      $0.whole("Content-Type: Image/PNG; charset=x")
    }
    .with { $0.item = "mime: image/png" },
    Row("no type where one is declared", "added 0 x1", "updated 0 x1", "added 0 x1") {
      $0.whole()
    }
    .with { $0.item = "mime: image/png" },
  ]

  private static let expected =
    [
      ("a type that is not expected", "mime: image/*"),
      ("fewer bytes than expected", "min_size: 10"),
      ("more bytes than expected", "max_size: 4"), ("other first bytes than expected", "magic: PK"),
    ].map { name, rule in
      Row(
        name,
        "unexpected_content|too_large 4 x1",
        "unexpected_content|too_large 3 x1",
        "unexpected_content|too_large 4 x1"
      ) { _ in .respond(200, [("Content-Type", "text/plain")], text: "hello") }
      .with { $0.segment = "expect: { \(rule) }" }
    } + [
      Row("all that is expected", "added 0 x1", "updated 0 x1", "added 0 x1") { _ in
        .respond(200, [("Content-Type", "text/plain")], text: "hello")
      }
      .with {
        $0.segment = "expect: { mime: text/plain, min_size: 5, max_size: 5, magic: hell }"
        $0.body = Array("hello".utf8)
      }
    ]

  private static let login = Array("<!DOCTYPE html>\n<html><title>Log in</title></html>\n".utf8)

  /// Log-in pages, which captive portals put in the place of everything.
  private static let pages =
    [
      "film.mp4", "list.m3u8", "photo.jpg", "sound.mp3", "archive.zip", "archive.tar.gz",
      "data.json", "font.woff2",
    ].map { name in
      Row(
        "a log-in page for \(name)",
        "unexpected_content 4 x1",
        "unexpected_content 3 x1",
        "unexpected_content 4 x1"
      ) { _ in .respond(200, [("Content-Type", "text/html; charset=utf-8")], body: login) }
      .with { $0.path = "/\(name)" }
    } + [
      Row(
        "a log-in page that claims to be an archive",
        "unexpected_content 4 x1",
        "unexpected_content 3 x1",
        "unexpected_content 4 x1"
      ) { _ in .respond(200, [("Content-Type", "application/zip")], body: login) }
      .with { $0.path = "/archive.zip" },
      Row(
        "a log-in page for a declared film",
        "unexpected_content 4 x1",
        "unexpected_content 3 x1",
        "unexpected_content 4 x1"
      ) { _ in .respond(200, [("Content-Type", "text/html")], body: login) }
      .with { $0.item = "type: video" },
      Row("a page where a page is declared", "added 0 x1", "updated 0 x1", "added 0 x1") { _ in
        .respond(200, [("Content-Type", "text/html")], body: login)
      }
      .with {
        $0.path = "/index.html"
        $0.body = login
      },
      Row("a body with a byte order mark", "added 0 x1", "updated 0 x1", "added 0 x1") { _ in
        .respond(200, [("Content-Type", "application/json")], text: "\u{FEFF}{}")
      }
      .with {
        $0.path = "/data.json"
        $0.body = Array("\u{FEFF}{}".utf8)
      },
    ]

  private static func page(_ count: Int) -> [UInt8] {
    Array(repeating: UInt8(ascii: "x"), count: count)
  }
}
