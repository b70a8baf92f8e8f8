import PrefetchTestSupport

/// Responses 304, and bodies sent in their place.
enum ConditionRows {
  static let all = confirmed + contradicted + repeated

  /// Responses 304 with these lines to conditional requests; good responses otherwise.
  private static let confirmed =
    [
      ("304", "unchanged 0 x1", "ETag: \"old\"\r\n"),
      ("304 under the weak form of the tag", "unchanged|headers 0 x1", "ETag: W/\"old\"\r\n"),
      ("304 without validators", "unchanged 0 x1", ""),
      ("304 with the length of the body", "unchanged 0 x1", "Content-Length: 5000\r\n"),
      ("304 with another length", "unchanged 0 x1", "Content-Length: 7\r\n"),
      ("304 with chunks announced", "unchanged 0 x1", "Transfer-Encoding: chunked\r\n"),
      (
        "304 with a type and coding", "unchanged 0 x1",
        "Content-Type: a/b\r\nContent-Encoding: gzip\r\n"
      ),
      ("304 with a date", "unchanged 0 x1", "Date: Fri, 20 Nov 2026 00:00:00 GMT\r\nAge: 5\r\n"),
      ("304 with new headers", "headers 0 x1", "ETag: \"old\"\r\nX-New: yes\r\n"),
      ("304 that closes", "unchanged 0 x1", "Connection: close\r\n"),
    ].map { name, verdict, lines in
      Row(name, "added 0 x1", verdict, "added 0 x1") { scene in
        guard scene.isConditional else { return scene.good }
        return .raw("HTTP/1.1 304 Not Modified\r\n\(lines)\r\n")
      }
    } + [
      Row("304 with a body", "added 0 x1", "unchanged 0 x1", "added 0 x1") { scene in
        guard scene.isConditional else { return scene.good }
        return .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello")
      },
      Row("304 to everything", "bad_response 4", "unchanged 0 x1", "bad_response 4") { _ in
        .raw("HTTP/1.1 304 Not Modified\r\nETag: \"old\"\r\n\r\n")
      },
    ]

  private static let contradicted = [
    Row("304 under another tag", "added 0 x1", "updated 0 x2", "added 0 x1") { scene in
      guard scene.isConditional else { return scene.good }
      return .raw("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
    },
    Row(
      "304 under another tag to everything",
      "bad_response 4",
      "bad_response 3 x2",
      "bad_response 4"
    ) {
      _ in
      .raw("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
    },
    Row("304 under another tag, then 404", "gone 4 x1", "gone 3 x2", "gone 4 x1") { scene in
      guard scene.isConditional else { return .respond(404) }
      return .raw("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
    },
    Row("304 though another digest is declared", "added 0 x1", "updated 0", "added 0 x1") {
      scene in
      guard scene.isConditional else { return scene.good }
      return .raw("HTTP/1.1 304 Not Modified\r\nETag: \"old\"\r\n\r\n")
    }
    .with { $0.item = "sha256: NEW" },
    Row("412 to a condition", "added 0 x1", "http 3 x1", "added 0 x1") { scene in
      scene.isConditional ? .respond(412) : scene.good
    },
  ]

  /// The old bytes in a full response, or new bytes with old validators.
  private static let repeated =
    [
      ("the same bytes under the same tag", "unchanged 0 x1", [("ETag", Scene.oldTag)]),
      ("the same bytes under another tag", "headers 0 x1", [("ETag", "\"other\"")]),
      ("the same bytes without a tag", "headers 0 x1", []),
    ].map { name, verdict, headers in
      Row(name, "added 0 x1", verdict, "added 0 x1") { _ in
        .respond(200, headers + [("Accept-Ranges", "bytes")], body: Scene.old)
      }
      .with { $0.body = Scene.old }
    } + [
      Row("other bytes under the same tag", "added 0 x1", "updated 0 x1", "added 0 x1") {
        scene in
        scene.whole("ETag: \(Scene.oldTag)")
      }
    ]
}
