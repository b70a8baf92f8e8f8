import PrefetchTestSupport

/// Partial responses: only a 206 that fits the stored part continues it; any other restarts.
enum RangeRows {
  static let all = parts + misfits + others + unsatisfiable + unasked

  private static let parts = [
    part("the rest under the same tag", "added 0 x1") { scene in
      scene.part { [scene.range($0), "ETag: \(Scene.tag)"] }
    },
    part("the rest of an unknown whole", "added 0 x1") { scene in
      scene.part { [scene.range($0, total: "*"), "ETag: \(Scene.tag)"] }
    },
    part("the rest without a tag", "added 0 x1") { scene in
      scene.part { [scene.range($0)] }
    },
    part("the rest without the type that is expected", "added 0 x1") { scene in
      guard scene.offset != nil else { return scene.whole("Content-Type: video/mp4") }
      return scene.part { [scene.range($0)] }
    }
    .with {
      $0.segment = "expect: { mime: video/mp4, min_size: 5kB }"
      $0.interrupted = half("Content-Type: video/mp4", "Content-Length: 2097152")
    },
    part("the rest with a type of its own that is not expected", "unexpected_content 4 x2") {
      scene in
      scene.offset == nil
        ? scene.whole("Content-Type: text/html")
        : scene.part { [scene.range($0), "Content-Type: text/html"] }
    }
    .with {
      $0.verdicts[.first] = Verdict("unexpected_content 4 x1")
      $0.verdicts[.update] = Verdict("unexpected_content 3 x1")
      $0.segment = "expect: { mime: video/mp4 }"
      $0.interrupted = half("Content-Type: video/mp4", "Content-Length: 2097152")
    },
    part("the rest of a body of unknown size", "added 0 x1") { scene in
      scene.part { [scene.range($0), "ETag: \(Scene.tag)"] }
    }
    .with {
      $0.interrupted = { scene in
        let size = "\(String(scene.body.count, radix: 16))\r\n"
        let head = scene.head(200, ["Transfer-Encoding: chunked", "ETag: \(Scene.tag)"])
        return Script([
          .send(head + Array(size.utf8) + scene.body.prefix(scene.body.count / 2)), .close,
        ])
      }
    },
    part("the rest in chunks", "added 0 x1") { scene in
      guard let offset = scene.offset else { return scene.good }
      let bytes = scene.body[offset...]
      let headers = [
        ("Content-Range", "bytes \(offset)-\(scene.body.count - 1)/\(scene.body.count)"),
        ("ETag", Scene.tag),
      ]
      return .chunked(
        206,
        headers,
        chunks: [Array(bytes.prefix(9_999)), Array(bytes.dropFirst(9_999))]
      )
    },
    part("a beginning of the rest", "added 0") { scene in
      scene.part {
        ["Content-Range: bytes \($0)-\($0 + 999)/\(scene.body.count)", "ETag: \(Scene.tag)"]
      } body: {
        scene.body[$0..<$0 + 1_000]
      }
    },
    part("the rest, cut off and continued", "added 0 x2") { scene in
      guard let offset = scene.offset, scene.attempt == 1 else { return scene.good }
      let rest = scene.body.count - offset
      let lines = ["Content-Length: \(rest)", scene.range(offset), "ETag: \(Scene.tag)"]
      return Script([
        .send(scene.head(206, lines) + scene.body[offset..<offset + rest / 2]), .close,
      ])
    },
  ]

  /// Parts that are not the rest of the stored part.
  private static let misfits = [
    part("a part that begins too early", "added 0 x2") { scene in
      scene.part {
        [scene.range($0 - 1), "ETag: \(Scene.tag)"]
      } body: {
        scene.body[($0 - 1)...]
      }
    },
    part("a part that begins too late", "added 0 x2") { scene in
      scene.part {
        [scene.range($0 + 1), "ETag: \(Scene.tag)"]
      } body: {
        scene.body[($0 + 1)...]
      }
    },
    part("a part from the start", "added 0 x2") { scene in
      scene.part { _ in
        [scene.range(0), "ETag: \(Scene.tag)"]
      } body: { _ in
        scene.body[...]
      }
    },
    part("a part that begins elsewhere than it says", "added 0 x2") { scene in
      scene.part {
        [scene.range($0 + 1), "ETag: \(Scene.tag)"]
      } body: {
        scene.body[$0...]
      }
    },
    part("a part of a longer whole", "added 0 x2") { scene in
      scene.part { [scene.range($0, total: "\(scene.body.count + 1)"), "ETag: \(Scene.tag)"] }
    },
    part("a part of a whole shorter than it", "added 0 x2") { scene in
      scene.part { [scene.range($0, total: "\(scene.body.count - 1)"), "ETag: \(Scene.tag)"] }
    },
    part("a part that ends beyond the whole", "added 0 x2") { scene in
      scene.part {
        let count = scene.body.count
        return ["Content-Range: bytes \($0)-\(count + 9)/\(count)", "ETag: \(Scene.tag)"]
      }
    },
    part("a part that ends before it begins", "added 0 x2") { scene in
      scene.part {
        ["Content-Range: bytes \($0)-\($0 - 9)/\(scene.body.count)", "ETag: \(Scene.tag)"]
      }
    },
    part("a part with more bytes than its range", "added 0 x2") { scene in
      scene.part {
        [scene.range($0), "ETag: \(Scene.tag)"]
      } body: {
        scene.body[$0...] + [0, 0, 0]
      }
    },
    part("a part with fewer bytes than its range", "added 0") { scene in
      scene.part {
        [scene.range($0), "ETag: \(Scene.tag)"]
      } body: {
        scene.body[$0...].dropLast(10)
      }
    },
    part("a part under another tag", "added 0 x2") { scene in
      scene.part { [scene.range($0), "ETag: \"other\""] }
    },
    part("a part under the weak form of the tag", "added 0 x2") { scene in
      scene.part { [scene.range($0), "ETag: W/\(Scene.tag)"] }
    },
    part("a part without its range", "added 0 x2") { scene in
      scene.part { _ in ["ETag: \(Scene.tag)"] }
    },
    part("a part with two ranges", "added 0 x2") { scene in
      scene.part { [scene.range($0), scene.range(0), "ETag: \(Scene.tag)"] }
    },
    part("a part in lines", "added 0 x2") { scene in
      scene.part {
        ["Content-Range: lines \($0)-\(scene.body.count - 1)/*", "ETag: \(Scene.tag)"]
      }
    },
    part("a part whose range is no range", "added 0 x2") { scene in
      scene.part { _ in ["Content-Range: bytes", "ETag: \(Scene.tag)"] }
    },
    part("a part in gzip", "added 0 x2") { scene in
      scene.part { [scene.range($0), "ETag: \(Scene.tag)", "Content-Encoding: gzip"] }
    },
    part("several parts in one", "added 0 x2") { scene in
      guard let offset = scene.offset else { return scene.good }
      let text = "--b\r\n\(scene.range(offset))\r\n\r\n"
      let bytes = Array(text.utf8) + scene.body[offset...] + Array("\r\n--b--\r\n".utf8)
      return .respond(206, [("Content-Type", "multipart/byteranges; boundary=b")], body: bytes)
    },
  ]

  /// Responses to a range request that are not the requested part.
  private static let others = [
    part("the whole under the same tag", "added 0 x1") { scene in
      scene.whole("ETag: \(Scene.tag)")
    },
    part("the whole under another tag", "added 0 x1") { scene in
      scene.whole("ETag: \"other\"")
    },
    part("304 in place of a part", "added 0 x2") { scene in
      guard scene.offset != nil else { return scene.good }
      return .raw("HTTP/1.1 304 Not Modified\r\nETag: \(Scene.tag)\r\n\r\n")
    },
  ]

  private static let unsatisfiable =
    [
      ("416 with the whole's size", "bytes */2097152"), ("416 with another size", "bytes */9"),
      ("416 with no size", "bytes */*"), ("416 with half a range", "bytes"),
      ("416 with an absurd size", "bytes */99999999999999999999999"),
    ].map { name, value in
      part(name, "added 0 x2") { scene in
        guard scene.offset != nil else { return scene.good }
        return .respond(416, [("Content-Range", value)], text: "no")
      }
    } + [
      part("416 without a range", "added 0 x2") { scene in
        scene.offset == nil ? scene.good : .respond(416)
      },
      part("416 in gzip", "added 0 x2") { scene in
        guard scene.offset != nil else { return scene.good }
        return .respond(416, [("Content-Encoding", "gzip")], text: "no gzip")
      },
      part("416 once all bytes are there", "added 0 x1") { scene in
        guard scene.offset == scene.body.count else { return scene.good }
        return .respond(416, [("Content-Range", "bytes */\(scene.body.count)")])
      }
      .with { $0.interrupted = allButTheEnd },
      part("416 with another size once all bytes are there", "added 0 x2") { scene in
        guard scene.offset != nil else { return scene.good }
        return .respond(416, [("Content-Range", "bytes */\(scene.body.count + 1)")])
      }
      .with { $0.interrupted = allButTheEnd },
      Row("416 to everything", "http 4 x1", "http 3 x1", "http 4 x2") { _ in
        .respond(416, [("Content-Range", "bytes */5")])
      },
    ]

  private static let unasked = [
    Row("206 to everything", "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x2") {
      _ in
      .respond(206, [("Content-Range", "bytes 0-4/5")], text: "hello")
    },
    Row("206 of the whole", "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x2") {
      scene in
      let range = "bytes 0-\(scene.body.count - 1)/\(scene.body.count)"
      return .respond(206, [("Content-Range", range), ("ETag", Scene.tag)], body: scene.body)
    },
    Row("200 with a Content-Range", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      scene.whole("Content-Range: bytes 0-4/5")
    },
  ]

  /// Returns a behavior that sends half of the body with these lines and the tag.
  private static func half(_ lines: String...) -> Row.Behaviour {
    { scene in
      let head = scene.head(200, lines + ["ETag: \(Scene.tag)"])
      return Script([.send(head + scene.body.prefix(scene.body.count / 2)), .close])
    }
  }

  /// Every byte, but not the mark of the end.
  private static let allButTheEnd: Row.Behaviour = { scene in
    let lines = ["Transfer-Encoding: chunked", "ETag: \(Scene.tag)"]
    let size = "\(String(scene.body.count, radix: 16))\r\n"
    return Script([.send(scene.head(200, lines) + Array(size.utf8) + scene.body), .close])
  }

  /// Returns a row whose response is good unless a range is requested.
  private static func part(
    _ name: String,
    _ verdict: String,
    _ behaviour: @escaping Row.Behaviour
  ) -> Row {
    Row(name, "added 0 x1", "updated 0 x1", verdict, behaviour)
  }
}
