import PrefetchTestSupport

/// Content codings: decoded when requested, refused when damaged or false.
enum CodingRows {
  static let all = decoded + damaged + unknown + unasked + bombs

  /// Codings that are requested, with an unencoded body for other requests.
  private static let decoded = [
    coded("gzip", Coded.gzip),
    coded("x-gzip", Coded.gzip),
    coded("GZIP", Coded.gzip),
    Row("a body in gzip of two members", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      let half = scene.body.count / 2
      let coded = Coded.gzip(Array(scene.body[..<half])) + Coded.gzip(Array(scene.body[half...]))
      return .respond(200, [("Content-Encoding", "gzip")], body: coded)
    },
    Row("a body in gzip and chunks", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      let coded = Coded.gzip(scene.body)
      let chunks = [Array(coded.prefix(100)), Array(coded.dropFirst(100))]
      return .chunked(200, [("Content-Encoding", "gzip")], chunks: chunks)
    },
    Row("the coding identity", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      scene.whole("Content-Encoding: identity")
    },
    Row("an empty coding", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      scene.whole("Content-Encoding:")
    },
    Row("a body in gzip, cut once", "added 0 x2", "updated 0 x2", "added 0") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      let coded = Coded.gzip(scene.body)
      let lines = ["Content-Encoding: gzip", "Content-Length: \(coded.count)", "ETag: \"gz\""]
      return Script([.send(scene.head(200, lines) + coded.prefix(coded.count / 2)), .close])
    },
  ]

  private static let damaged = [
    damaged("gzip without its end") { $0.removeLast(400) },
    damaged("gzip without its checksum") { $0.removeLast(8) },
    damaged("gzip with another checksum") { $0[$0.count - 6] ^= 1 },
    damaged("gzip with another size") { $0[$0.count - 1] ^= 1 },
    damaged("half a gzip header") { $0 = Array($0.prefix(5)) },
    damaged("no gzip at all") { $0 = Array("hello".utf8) },
    damaged("gzip with junk behind it") { $0 += Array("junk".utf8) },
  ]

  private static let unknown =
    ["cats", "gzip, gzip", "gzip, cats", "compress", "aes128gcm"].map {
      coding in
      Row("the coding `\(coding)`", "bad_response 4", "bad_response 3", "bad_response 4") { scene in
        .respond(200, [("Content-Encoding", coding)], body: Coded.gzip(Coded.gzip(scene.body)))
      }
    } + [
      Row("deflate that was not requested", "bad_response 4", "bad_response 3", "bad_response 4") {
        scene in
        .respond(200, [("Content-Encoding", "deflate")], body: Coded.zlib(scene.body))
      }
    ]

  private static let unasked = [
    Row("gzip that was not requested", "added 0 x1", "updated 0 x1", "added 0") { scene in
      .respond(200, [("Content-Encoding", "gzip")], body: Coded.gzip(scene.body))
    }
    .with { $0.path = "/film.mp4" },
    Row("gzip in answer to everything", "added 0 x1", "updated 0 x1", "added 0") { scene in
      .respond(200, [("Content-Encoding", "gzip")], body: Coded.gzip(scene.body))
    }
    .with { $0.isCodedUnasked = true },
    // Old servers state this coding for every file named .gz, although the file itself is meant.
    Row("an archive that is said to be coded", "added 0 x1", "updated 0 x1", "added 0 x1") { _ in
      .respond(200, [("Content-Encoding", "x-gzip")], body: Coded.gzip(Scene.old))
    }
    .with {
      $0.path = "/archive.tar.gz"
      $0.body = Coded.gzip(Scene.old)
    },
  ]

  private static let bomb = Coded.zeros(8 << 20)
  private static let largeBomb = Coded.zeros(32 << 20)

  private static let bombs = [
    Row("gzip that grows beyond the limit", "too_large 4 x1", "too_large 3 x1", "added 0") {
      scene in
      guard scene.accepts("gzip") else { return scene.good }
      return .respond(200, [("Content-Encoding", "gzip")], body: largeBomb)
    },
    Row("gzip that grows a thousandfold", "too_large 4 x1", "too_large 3 x1", "added 0") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      return .respond(200, [("Content-Encoding", "gzip")], body: bomb)
    }
    .with { $0.largest = "1GiB" },
    Row("the same in chunks", "too_large 4 x1", "too_large 3 x1", "added 0") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      return .chunked(200, [("Content-Encoding", "gzip")], chunks: [bomb])
    }
    .with { $0.largest = "1GiB" },
    Row(
      "gzip that grows beyond its size",
      "too_large|corrupted 4 x1",
      "too_large|corrupted 3 x1",
      "added 0"
    ) { scene in
      guard scene.accepts("gzip") else { return scene.good }
      return .respond(200, [("Content-Encoding", "gzip")], body: bomb)
    }
    .with { $0.item = "size: SIZE" },
  ]

  private static func coded(
    _ name: String,
    _ code: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) -> Row {
    Row("a body in \(name)", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      return .respond(200, [("Content-Encoding", name)], body: code(scene.body))
    }
  }

  private static func damaged(
    _ name: String,
    _ damage: @escaping @Sendable (inout [UInt8]) -> Void
  ) -> Row {
    Row(name, "bad_response|corrupted 4", "bad_response|corrupted 3", "added 0") { scene in
      guard scene.accepts("gzip") else { return scene.good }
      var bytes = Coded.gzip(scene.body)
      damage(&bytes)
      return .respond(200, [("Content-Encoding", "gzip")], body: bytes)
    }
  }
}
