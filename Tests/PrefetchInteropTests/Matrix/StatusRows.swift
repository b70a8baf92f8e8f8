import PrefetchTestSupport

/// Statuses: only a 200, a 203 by a proxy, or the rest of a part is stored.
enum StatusRows {
  static let all = informational + successful + redirecting + refused + busy + unknown

  private static let informational = [
    Row("200", "added 0 x1", "updated 0 x1", "added 0 x1") { $0.good },
    Row("203", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      .respond(203, [("ETag", Scene.tag)], body: scene.body)
    },
    Row("100 before the answer", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      Script([.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))] + scene.good.steps)
    },
    Row("103 with headers of its own", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let hint = "HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\nContent-Length: 1\r\n\r\n"
      return Script([.send(Array(hint.utf8))] + scene.good.steps)
    }
    .with { $0.isOtherOverHTTP2 = true },
    Row("twenty times 102", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = "HTTP/1.1 102 Processing\r\n\r\n"
      return Script([.send(Array(String(repeating: head, count: 20).utf8))] + scene.good.steps)
    },
    Row("endless 100", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
      Script([.repeatForever(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))])
    },
    Row("endless 103 with a header", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
      Script([.repeatForever(Array("HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n".utf8))])
    },
    Row("101 that was not requested", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
      .raw("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\nhello")
    },
  ]

  private static let successful = [201, 202, 204, 205, 207, 226, 299].map { status in
    Row("\(status)", "http 4 x1", "http 3 x1", "http 4 x1") { scene in
      let hasBody = status != 204 && status != 205
      return .respond(status, [("ETag", Scene.tag)], body: hasBody ? scene.body : [])
    }
  }

  private static let redirecting = [
    Row("300", "http 4 x1", "http 3 x1", "http 4 x1") { $0.redirect("/other", status: 300) },
    Row("305", "http 4 x1", "http 3 x1", "http 4 x1") { $0.redirect("/other", status: 305) },
    Row("306 Unused", "http 4 x1", "http 3 x1", "http 4 x1"),
    Row("301 without Location", "http 4 x1", "http 3 x1", "http 4 x1"),
    Row("302 without Location", "http 4 x1", "http 3 x1", "http 4 x1"),
    Row("303 without Location", "http 4 x1", "http 3 x1", "http 4 x1"),
    Row("307 without Location", "http 4 x1", "http 3 x1", "http 4 x1"),
    Row("308 without Location", "http 4 x1", "http 3 x1", "http 4 x1"),
  ]

  private static let refused =
    [
      400, 401, 402, 403, 405, 406, 409, 411, 412, 413, 417, 418, 421, 422, 426, 428, 431, 451,
      499, 501, 505, 507, 511, 599,
    ].map { status in
      Row("\(status)", "http 4 x1", "http 3 x1", "http 4 x1") { _ in
        .respond(status, [("ETag", Scene.tag)], text: "<html>no</html>")
      }
    } + [
      Row("404", "gone 4 x1", "gone 3 x1", "gone 4 x1") { _ in .respond(404, text: "no") },
      Row("410", "gone 4 x1", "gone 3 x1", "gone 4 x1") { _ in .respond(410, text: "no") },
      Row("404 with the right body", "gone 4 x1", "gone 3 x1", "gone 4 x1") { scene in
        .respond(404, [("ETag", Scene.tag)], body: scene.body)
      },
      denied(401),
      denied(403),
      denied(407),
      // A status of proxies, whatever the request was.
      Row(
        "407",
        "credentials_refused 77 x1",
        "credentials_refused 77 x1",
        "credentials_refused 77 x1"
      ) { _ in .respond(407) },
    ]

  private static func denied(_ status: Int) -> Row {
    Row(
      "\(status) to credentials",
      "credentials_refused 77 x1",
      "credentials_refused 77 x1",
      "credentials_refused 77 x1"
    ) { _ in .respond(status) }
    .with { $0.segment = "headers: { Authorization: Bearer key }" }
  }

  private static let busy = [408, 425, 429, 500, 502, 503, 504].map { status in
    Row("\(status)", "server_busy 69 x4", "server_busy 69 x4", "server_busy 69 x4") { _ in
      .respond(status, text: "busy")
    }
  }

  private static let unknown = [
    "600 Odd", "999 Odd", "99 Odd", "0 Odd", "2000 Odd", "2OO OK", "-200 OK",
  ]
  .map { Row($0, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1") }
}
