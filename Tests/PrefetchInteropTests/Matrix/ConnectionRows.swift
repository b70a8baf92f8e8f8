import PrefetchTestSupport

/// Connections that end, break or fall silent, and servers that take their time.
enum ConnectionRows {
  static let all = ends + breaks + recoveries + silence + pace + reuse

  private static let ends =
    [
      ("an end before the answer", Script([.close])),
      ("a break before the answer", Script([.reset])),
      ("an end within the status line", .raw("HTTP/1.1 20", then: .close)),
      ("a break within the status line", .raw("HTTP/1.1 20", then: .reset)),
      ("an end within the headers", .raw("HTTP/1.1 200 OK\r\nContent-", then: .close)),
      ("a break within the headers", .raw("HTTP/1.1 200 OK\r\nA: b\r\n", then: .reset)),
      ("an end after 100", .raw("HTTP/1.1 100 Continue\r\n\r\n", then: .close)),
    ].map { name, script in
      Row(name, "reset 69 x4", "reset 69 x4", "reset 69 x4") { _ in script }
    }

  private static let breaks = [0, 1, 4_095, 8_191].flatMap { offset in
    [
      Row("an end after \(offset) bytes", "truncated 69 x4", "truncated 69 x4", "truncated 69 x4") {
        $0.cut(at: offset, then: .close)
      },
      // Whether the last bytes are read before the break is noticed is a matter of luck.
      Row("a break after \(offset) bytes", "reset 69 x4", "reset 69 x4", "reset 69 x4") {
        $0.cut(at: offset, then: .reset)
      }
      .with { $0.setSecureVerdict("reset|truncated 69 x4") },
    ]
  }

  /// Failures that occur once, followed by a good response.
  private static let recoveries = [
    Row("one break before the answer", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      scene.attempt == 1 ? Script([.reset]) : scene.good
    },
    Row("one end within the headers", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      scene.attempt == 1 ? .raw("HTTP/1.1 200 OK\r\nConte", then: .close) : scene.good
    },
    Row("one end within the body", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      scene.attempt == 1 ? scene.cut(at: 4_000, then: .close) : scene.good
    },
    Row("three ends within the body", "added 0 x4", "updated 0 x4", "added 0 x4") { scene in
      scene.attempt < 4 ? scene.cut(at: 1_000 * scene.attempt, then: .close) : scene.good
    },
    Row("four ends within the body", "truncated 69 x4", "truncated 69 x4", "truncated 69 x4") {
      scene in
      scene.attempt < 5 ? scene.cut(at: 1_000 * scene.attempt, then: .close) : scene.good
    },
    Row("one 503", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      scene.attempt == 1 ? .respond(503) : scene.good
    },
  ]

  private static let silence =
    [
      ("silence from the start", Script([.silence])),
      ("silence within the status line", Script([.send(Array("HTTP/1.1 2".utf8)), .silence])),
      ("silence within the headers", Script([.send(Script.head(200).dropLast(2)), .silence])),
      (
        "silence after the headers",
        Script([.send(Script.head(200, [("Content-Length", "5")])), .silence])
      ),
      (
        "silence within a chunk",
        Script([
          .send(Script.head(200, [("Transfer-Encoding", "chunked")]) + Array("9\r\nhel".utf8)),
          .silence,
        ])
      ),
      ("silence after 100", Script([.send(Array("HTTP/1.1 100 Go on\r\n\r\n".utf8)), .silence])),
    ].map { name, script in
      hurried(Row(name, "stalled 69 x2", "stalled 69 x2", "stalled 69 x2") { _ in script })
    } + [
      hurried(
        Row("silence within the body", "stalled 69 x2", "stalled 69 x2", "stalled 69 x2") {
          $0.cut(at: 5_000, then: .silence)
        }
      ),
      hurried(
        Row("silence once", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
          scene.attempt == 1 ? scene.cut(at: 5_000, then: .silence) : scene.good
        }
      ),
    ]

  private static func hurried(_ row: Row) -> Row {
    row.with {
      $0.timeouts = "read: 300ms"
      $0.retries = "items: 1"
    }
  }

  private static let pace = [
    Row("a byte now and then", "stalled 69 x2", "stalled 69 x2", "stalled 69 x2") { scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      let drops = (0..<8).flatMap {
        [Script.Step.wait(.milliseconds(900)), .send([scene.body[$0]])]
      }
      return Script([.send(head)] + drops)
    }
    .with {
      $0.timeouts = "read: 300ms"
      $0.retries = "items: 1"
    },
    Row("a body in slow pieces", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      let drops = (0..<30).flatMap {
        [Script.Step.wait(.milliseconds(40)), .send([scene.body[$0]])]
      }
      return Script([.send(head)] + drops + [.send(Array(scene.body.dropFirst(30)))])
    }
    .with { $0.timeouts = "read: 1s" },
    Row("a head in slow pieces", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      let drops = head.flatMap { [Script.Step.wait(.milliseconds(5)), .send([$0])] }
      return Script(drops + [.send(scene.body)])
    }
    .with { $0.timeouts = "read: 1s" },
    Row("a body that rests and goes on", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      return Script([
        .send(head + scene.body.prefix(5_000)), .wait(.milliseconds(400)),
        .send(Array(scene.body.dropFirst(5_000))),
      ])
    }
    .with { $0.timeouts = "read: 2s" },
    Row("a body a byte a packet", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      let rest = Array(scene.body.dropFirst(2_000))
      return Script([.drip(head + scene.body.prefix(2_000), size: 1), .send(rest)])
    },
    Row("a body too slow for its time", "timeout 69 x2", "timeout 69 x2", "timeout 69 x2") {
      scene in
      let head = scene.head(200, ["Content-Length: \(scene.body.count)"])
      let drops = (0..<60).flatMap {
        [Script.Step.wait(.milliseconds(25)), .send([scene.body[$0]])]
      }
      return Script([.send(head)] + drops)
    }
    .with {
      $0.timeouts = "read: 5s, item: 300ms"
      $0.retries = "items: 1"
    },
    Row("a head too slow for its time", "timeout 69 x2", "timeout 69 x2", "timeout 69 x2") { _ in
      let drop = [Script.Step.wait(.milliseconds(25)), .send(Array("A: b\r\n".utf8))]
      let drops = Array(repeating: drop, count: 60).flatMap(\.self)
      return Script([.send(Array("HTTP/1.1 200 OK\r\n".utf8))] + drops)
    }
    .with {
      $0.timeouts = "read: 5s, item: 300ms"
      $0.retries = "items: 1"
    },
  ]

  private static let reuse = [
    Row("a connection that ends after the answer", "added 0 x1", "updated 0 x1", "added 0 x1") {
      scene in
      Script(scene.whole("Connection: close").steps + [.close])
    },
    Row("a kept connection that ends anyway", "added 0 x2", "updated 0 x2", "added 0 x2") {
      scene in
      guard scene.attempt == 1 else { return scene.good }
      let head = ["Content-Length: 0", "Location: /other", "Connection: keep-alive"]
      return Script([.send(scene.head(302, head)), .close])
    },
    Row("a kept connection that breaks", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      guard scene.attempt == 1 else { return scene.good }
      return Script([.send(scene.head(302, ["Content-Length: 0", "Location: /other"])), .reset])
    },
    Row("a second answer behind the first", "bad_response 4", "bad_response 3", "bad_response 4") {
      scene in
      .raw(String(repeating: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", count: 2))
    },
    Row("an answer behind a redirect", "bad_response 4", "bad_response 3", "bad_response 4") {
      scene in
      guard scene.attempt == 1 else { return .respond(404) }
      let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
      return .raw("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /other\r\n\r\n\(evil)")
    },
  ]
}
