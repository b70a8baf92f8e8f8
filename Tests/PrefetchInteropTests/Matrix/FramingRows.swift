import PrefetchTestSupport

/// Ends of heads and bodies; a message that two readers could understand differently is refused.
enum FramingRows {
  static let all = lengths + codings + chunks + ends + heads + lines

  private static let lengths =
    [
      ("two lengths", "Content-Length: 5\r\nContent-Length: 4\r\n"),
      ("a list of lengths", "Content-Length: 5, 4\r\n"),
      ("a list of equal lengths", "Content-Length: 5, 5\r\n"),
      ("a negative length", "Content-Length: -5\r\n"),
      ("a length beyond 64 bits", "Content-Length: 99999999999999999999\r\n"),
      ("a length of 2 to the 63", "Content-Length: 9223372036854775808\r\n"),
      ("a hexadecimal length", "Content-Length: 0x5\r\n"),
      ("a length with a plus sign", "Content-Length: +5\r\n"),
      ("a length with a blank inside", "Content-Length: 5 5\r\n"),
      ("an empty length", "Content-Length:\r\n"),
      ("a length in letters", "Content-Length: five\r\n"),
      ("a fraction of a length", "Content-Length: 5.0\r\n"),
      ("a space before the colon", "Content-Length : 5\r\n"),
      ("a tab before the colon", "Content-Length\t: 5\r\n"),
      ("a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      ("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    ].map { name, head in
      Row(name, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1", head: head)
    } + [
      Row("the same length twice", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        scene.whole("Content-Length: \(scene.body.count)")
      }
      .with { $0.isOtherOverHTTP2 = true },
      Row("a length with zeros before it", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        let head = scene.head(200, ["Content-Length: 000\(scene.body.count)"])
        return Script([.send(head + scene.body)])
      },
      Row("more bytes than announced", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
        .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world")
      },
      Row("fewer bytes than announced", "truncated 69 x4", "truncated 69 x4", "truncated 69") { _ in
        .raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", then: .close)
      },
    ]

  private static let codings = [
    "cats", "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity, chunked",
    "xchunked",
  ].map { coding in
    Row(
      "the transfer coding `\(coding)`",
      "bad_response 4 x1",
      "bad_response 3 x1",
      "bad_response 4 x1",
      head: "Transfer-Encoding: \(coding)\r\n",
      body: "5\r\nhello\r\n0\r\n\r\n"
    )
  }

  private static let chunks =
    [
      ("chunk sizes that are no numbers", "zz\r\nhello\r\n"),
      ("a chunk size beyond 64 bits", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
      ("a chunk size of zeros without end", String(repeating: "0", count: 200_000)),
      ("a negative chunk size", "-5\r\nhello\r\n0\r\n\r\n"),
      ("a chunk without its size", "\r\nhello\r\n0\r\n\r\n"),
      ("a chunk longer than its size", "3\r\nhello\r\n0\r\n\r\n"),
      ("a chunk that no line end follows", "5\r\nhello0\r\n\r\n"),
      ("a chunk size with a plus sign", "+5\r\nhello\r\n0\r\n\r\n"),
      ("a chunk size after a blank", " 5\r\nhello\r\n0\r\n\r\n"),
      ("a chunk size of 17 digits", "00000000000000005\r\nhello\r\n0\r\n\r\n"),
      ("the largest chunk size", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
      ("a trailer without a colon", "5\r\nhello\r\n0\r\nnothing\r\n\r\n"),
      ("a trailer without a name", "5\r\nhello\r\n0\r\n: b\r\n\r\n"),
      ("a trailer of one zero byte", "5\r\nhello\r\n0\r\n\0\r\n\r\n"),
      ("a zero byte in a trailer", "5\r\nhello\r\n0\r\nA: b\0c\r\n\r\n"),
      ("a folded trailer", "5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n"),
      (
        "a trailer of 5 kB",
        "5\r\nhello\r\n0\r\nA: \(String(repeating: "a", count: 5_000))\r\n\r\n"
      ),
    ].map { name, body in
      Row(
        name,
        "bad_response 4 x1",
        "bad_response 3 x1",
        "bad_response 4 x1",
        head: "Transfer-Encoding: chunked\r\n",
        body: body
      )
    }
    + [
      ("a cut chunk", "9\r\nhello"), ("no last chunk", "5\r\nhello\r\n"), ("no chunk at all", ""),
      ("a cut chunk size", "5"), ("a cut trailer", "5\r\nhello\r\n0\r\nA: b"),
    ]
    .map { name, body in
      Row(
        name,
        "truncated 69 x4",
        "truncated 69 x4",
        "truncated 69",
        head: "Transfer-Encoding: chunked\r\n",
        body: body
      )
    }
    + [
      Row("chunks", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        .chunked(chunks: [Array(scene.body.prefix(1_000)), Array(scene.body.dropFirst(1_000))])
      },
      Row("chunks with extensions", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        let size = String(scene.body.count, radix: 16)
        let head = scene.head(200, ["Transfer-Encoding: chunked"])
        let start = Array("\(size);name=\"value\"\r\n".utf8)
        return Script([.send(head + start + scene.body + Array("\r\n0;a\r\n\r\n".utf8))])
      },
      Row("chunks with trailers", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        let size = String(scene.body.count, radix: 16)
        let head = scene.head(200, ["Transfer-Encoding: chunked", "Trailer: ETag"])
        let end = "\r\n0\r\nETag: \"late\"\r\nContent-Length: 1\r\n\r\n"
        return Script([.send(head + Array("\(size)\r\n".utf8) + scene.body + Array(end.utf8))])
      }
      .with { $0.isOtherOverHTTP2 = true },
      Row(
        "an endless chunk extension",
        "bad_response|stalled 4|69",
        "bad_response|stalled 3|69",
        "bad_response|stalled 4|69"
      ) { scene in
        let head = scene.head(200, ["Transfer-Encoding: chunked"]) + Array("5;".utf8)
        let flood = [UInt8](repeating: UInt8(ascii: "a"), count: 4_096)
        return Script([.send(head), .repeatForever(flood)])
      }
      .with {
        $0.timeouts = "read: 1s"
        $0.retries = "items: 0"
      },
      Row("endless trailers", "bad_response 4", "bad_response 3", "bad_response 4") { scene in
        let head = scene.head(200, ["Transfer-Encoding: chunked"])
        return Script([
          .send(head + Array("5\r\nhello\r\n0\r\n".utf8)), .repeatForever(Array("A: b\r\n".utf8)),
        ])
      },
      Row("one endless trailer", "bad_response 4", "bad_response 3", "bad_response 4") { scene in
        let head = scene.head(200, ["Transfer-Encoding: chunked"])
        return Script([
          .send(head + Array("5\r\nhello\r\n0\r\nA: ".utf8)),
          .repeatForever(Array(repeating: UInt8(ascii: "a"), count: 4_096)),
        ])
      },
    ]

  private static let ends = [
    Row("an end that only the connection marks", "truncated 69", "truncated 69", "truncated 69") {
      scene in
      Script([.send(scene.head(200, []) + scene.body), .close])
    },
    Row("the same over HTTP/1.0", "truncated 69", "truncated 69", "truncated 69") { scene in
      Script([.send(Array("HTTP/1.0 200 OK\r\n\r\n".utf8) + scene.body), .close])
    },
    Row("the same, with size and digest declared", "added 0 x1", "updated 0 x1", "added 0 x1") {
      scene in
      Script([.send(scene.head(200, []) + scene.body), .close])
    }
    .with { $0.item = "size: SIZE, sha256: NEW" },
    Row("HTTP/1.0 with a length", "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
      let head = "HTTP/1.0 200 OK\r\nContent-Length: \(scene.body.count)\r\n\r\n"
      return Script([.send(Array(head.utf8) + scene.body), .close])
    },
    Row("HTTP/1.0 with chunks", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
      let head = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      return .raw(head + "5\r\nhello\r\n0\r\n\r\n", then: .close)
    },
  ]

  private static let heads =
    [
      ("HTTP/0.9", "hello, world"),
      ("HTTP/3.0", "HTTP/3.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      ("HTTP/2 over HTTP/1", "HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      ("a version without digits", "HTTP/x.y 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      ("ICY", "ICY 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      ("http in small letters", "http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      ("a status line without a status", "HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
      ("an SSH server", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"),
      ("a mail server", "220 mail.example.com ESMTP\r\n"),
      ("a TLS alert", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}"),
      ("bytes of no sense", "\u{1}\u{2}\u{0}\u{7F}\n\n\r\r\u{3}"),
    ].map { name, text in
      Row(name, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1") { _ in
        .raw(text, then: .close)
      }
    }

  private static let lines =
    [
      ("a folded header", "A: b\r\n c\r\nContent-Length: 5\r\n"),
      ("a blank before the first header", " A: b\r\nContent-Length: 5\r\n"),
      ("a header without a colon", "Content-Length: 5\r\nnothing\r\n"),
      ("a header without a name", ": b\r\nContent-Length: 5\r\n"),
      ("a blank inside a header's name", "A b: c\r\nContent-Length: 5\r\n"),
      ("a zero byte in a header", "A: b\u{0}c\r\nContent-Length: 5\r\n"),
      ("a carriage return in a header", "A: b\rc\r\nContent-Length: 5\r\n"),
      ("an escape in a header", "A: b\u{1B}[2J\r\nContent-Length: 5\r\n"),
      (
        "a header of 200 kB",
        "A: \(String(repeating: "a", count: 200_000))\r\nContent-Length: 5\r\n"
      ),
      ("a thousand headers", String(repeating: "A: b\r\n", count: 1_000) + "Content-Length: 5\r\n"),
      ("bare line feeds", "A: b\nContent-Length: 5\n\nhello"),
    ].map { name, head in
      Row(name, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1", head: head)
    } + [
      Row("line feeds only", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
        .raw("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", then: .close)
      },
      Row("endless headers", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
        Script([.send(Array("HTTP/1.1 200 OK\r\n".utf8)), .repeatForever(Array("A: b\r\n".utf8))])
      },
      Row("one endless header", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
        Script([
          .send(Array("HTTP/1.1 200 OK\r\nA: ".utf8)),
          .repeatForever(Array(repeating: UInt8(ascii: "a"), count: 4_096)),
        ])
      },
      Row("an endless status line", "bad_response 4", "bad_response 3", "bad_response 4") { _ in
        Script([
          .send(Array("HTTP/1.1 200 ".utf8)),
          .repeatForever(Array(repeating: UInt8(ascii: "a"), count: 4_096)),
        ])
      },
    ]
}
