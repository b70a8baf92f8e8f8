import PrefetchTestSupport

/// Servers that contradict themselves from one response to the next, and headers with a purpose.
enum DeceitRows {
  static let all = changing + redirecting + announced + coded

  /// Each attempt is another response.
  private static let changing = [
    Row("another tag after each cut", "added 0 x4", "updated 0 x4", "added 0 x4") { scene in
      guard scene.attempt < 4 else { return scene.good }
      let lines = ["Content-Length: \(scene.body.count)", "ETag: \"\(scene.attempt)\""]
      return Script([.send(scene.head(200, lines) + scene.body.prefix(4_000)), .close])
    },
    Row("another length after each cut", "added 0 x3", "updated 0 x3", "added 0") { scene in
      guard scene.attempt < 3 else { return scene.good }
      let lines = ["Content-Length: \(scene.body.count + scene.attempt)", "ETag: \(Scene.tag)"]
      return Script([.send(scene.head(200, lines) + scene.body), .close])
    },
    Row("a cut body and then nothing there", "gone 4 x2", "gone 3 x2", "gone 4 x2") { scene in
      scene.attempt == 1 ? scene.cut(at: 4_000, then: .close) : .respond(404)
    },
    Row("a cut body and then a page", "http 4 x2", "http 3 x2", "http 4 x2") { scene in
      guard scene.attempt == 1 else { return .respond(403, text: "<html>no</html>") }
      return scene.cut(at: 4_000, then: .close)
    },
    Row("a cut body and then a redirect", "added 0 x3", "updated 0 x3", "added 0 x3") { scene in
      switch scene.attempt {
      case 1: scene.cut(at: 4_000, then: .close)
      case 2: scene.redirect("/other")
      default: scene.good
      }
    },
    Row("a redirect whose target breaks once", "added 0", "updated 0", "added 0") { scene in
      switch scene.request.path {
      case "/other" where scene.attempt == 2: Script([.reset])
      case "/other": scene.good
      default: scene.redirect("/other")
      }
    },
    Row("each second answer busy", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      scene.attempt.isMultiple(of: 2) ? scene.good : .respond(500, text: "busy")
    },
  ]

  private static let redirecting = [
    Row("two Locations", "redirect_limit 4", "redirect_limit 3", "redirect_limit 4") { _ in
      .respond(302, [("Location", "/a"), ("Location", "/b")])
    },
    Row("a Location with 200", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      scene.whole("Location: http://127.0.0.1:1/")
    },
    Row("a redirect with a time to wait", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      guard scene.attempt == 1 else { return scene.good }
      return .respond(302, [("Location", "/other"), ("Retry-After", "3600")])
    },
    Row("a redirect with letters beyond ASCII", "added 0 x2", "updated 0 x2", "added 0 x2") {
      scene in
      scene.attempt == 1 ? scene.redirect("/ö") : scene.good
    },
    Row("a redirect with an endless body", "added 0", "updated 0", "added 0") { scene in
      guard scene.attempt == 1 else { return scene.good }
      let flood = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
      return Script([.send(scene.head(302, ["Location: /other"])), .repeatForever(flood)])
    },
    Row("a redirect with a cookie", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      guard scene.attempt == 1 else { return scene.good }
      return .respond(302, [("Location", "/other"), ("Set-Cookie", "a=b; Path=/")])
    },
    Row(
      "a redirect to a host without a name",
      "redirect_forbidden|dns|connect|bad_response 3|4|5",
      "redirect_forbidden|dns|connect|bad_response 3|4|5",
      "redirect_forbidden|dns|connect|bad_response 3|4|5"
    ) { $0.redirect("\($0.transport.scheme)://0.0.0.0:1/") },
  ]

  /// Headers that concern other programs, or promise something about the body.
  private static let announced =
    [
      ("a time to wait with 200", ["Retry-After: 3600"]),
      ("a digest that is wrong", ["Content-MD5: AAAAAAAAAAAAAAAAAAAAAA=="]),
      ("a link to preload", ["Link: </other>; rel=preload"]),
      ("no ranges", ["Accept-Ranges: none"]),
      ("a part of lines", ["Accept-Ranges: lines"]),
      ("a hundred cookies", (0..<100).map { "Set-Cookie: c\($0)=\($0); Path=/" }),
      ("a cookie of another host", ["Set-Cookie: a=b; Domain=example.com"]),
      ("data to clear", ["Clear-Site-Data: \"*\""]),
      ("a report to send", ["NEL: {\"report_to\":\"a\",\"max_age\":9}", "Report-To: {}"]),
      ("a dictionary", ["Use-As-Dictionary: match=\"/*\""]),
      ("a type beyond ASCII", ["Content-Type: text/plain; a=\"\u{E9}\""]),
      (
        "a directive of a thousand letters",
        ["Cache-Control: \(String(repeating: "a", count: 999))"]
      ),
      ("hundreds of variants", ["Vary: \((0..<300).map { "X-\($0)" }.joined(separator: ", "))"]),
      ("dates with other zones", ["Last-Modified: Mon, 01 Jan 2024 00:00:00 +0100"]),
      ("a quota that is used up", ["RateLimit-Remaining: 0", "RateLimit-Reset: 9999999999"]),
    ].map { name, lines in
      Row("a good answer with \(name)", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        let length = ["Content-Length: \(scene.body.count)"]
        return Script([.send(scene.head(200, length + lines) + scene.body)])
      }
    }

  private static let coded = [
    Row(
      "gzip of a thousand empty members",
      "added 0",
      "updated 0",
      "added 0"
    ) { scene in
      guard scene.accepts("gzip") else { return scene.good }
      let empty = repeatElement(Coded.gzip([]), count: 1_000).joined()
      let body = Array(empty) + Coded.gzip(scene.body)
      return .respond(200, [("Content-Encoding", "gzip")], body: body)
    },
    Row(
      "gzip with reserved flags",
      "bad_response|corrupted 4",
      "bad_response|corrupted 3",
      "added 0"
    ) { scene in
      guard scene.accepts("gzip") else { return scene.good }
      var body = Coded.gzip(scene.body)
      body[3] = 0xE0
      return .respond(200, [("Content-Encoding", "gzip")], body: body)
    },
    Row(
      "gzip with an endless name",
      "bad_response 4 x1",
      "bad_response 3 x1",
      "added 0"
    ) { scene in
      guard scene.accepts("gzip") else { return scene.good }
      let head = scene.head(200, ["Content-Encoding: gzip", "Transfer-Encoding: chunked"])
      let chunk = Array("1000\r\n".utf8) + [UInt8](repeating: 97, count: 4_096) + [13, 10]
      let start = Array("a\r\n".utf8) + [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [13, 10]
      return Script([.send(head + start), .repeatForever(chunk)])
    },
  ]
}
