import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Valid responses", .timeLimit(.minutes(10)))
struct ResponseTests {
  /// `hello, compressed world` and a line end.
  static let gzip: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xD7,
    0x51, 0x48, 0xCE, 0xCF, 0x2D, 0x28, 0x4A, 0x2D, 0x2E, 0x4E, 0x4D, 0x51, 0x28, 0xCF, 0x2F, 0xCA,
    0x49, 0xE1, 0x02, 0x00, 0x3F, 0xBA, 0x39, 0x3C, 0x18, 0x00, 0x00, 0x00,
  ]

  @Test("A body with a length arrives with its digest and headers")
  func wholeBody() throws {
    let server = try LoopbackServer { _ in .respond(200, [("ETag", "\"1\"")], text: "hello") }
    let bench = try TransferBench()
    let request = bench.request(try server.url("/a?b=c")) { $0.algorithms = [.sha1] }
    let result = try bench.result(of: request)
    let response = try result.outcome.get()
    #expect(response.status == 200)
    #expect(response.headers["etag"] == "\"1\"")
    #expect(response.body?.digest == SHA256.digest(of: "hello"))
    #expect(response.body?.otherDigests[.sha1]?.count == 20)
    #expect(try bench.text(of: response) == "hello")
    #expect(bench.staging.expectedSizes == [5])
    #expect(server.requests.map(\.target) == ["/a?b=c"])
    #expect(result.figures.httpVersion == "1.1")
    #expect(result.figures.remoteAddress == "127.0.0.1")
    #expect(result.figures.wireBytes > 5)
    #expect(result.figures.total != nil)
  }

  @Test("Chunks are joined, and trailers are ignored")
  func chunks() throws {
    let server = try LoopbackServer { request in
      guard request.target == "/trailer" else {
        return .chunked(chunks: [Array("one ".utf8), Array("two".utf8)])
      }
      return .raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\nX: y\r\n\r\n"
      )
    }
    let bench = try TransferBench()
    let unposted = try bench.response(to: bench.request(try server.url()))
    #expect(try bench.text(of: unposted) == "one two")
    let trailed = try bench.response(to: bench.request(try server.url("/trailer")))
    #expect(try bench.text(of: trailed) == "one")
    #expect(trailed.headers["X"] == nil)
  }

  @Test("An empty body is a body")
  func emptyBody() throws {
    let server = try LoopbackServer { _ in .respond(200) }
    let bench = try TransferBench()
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(response.body?.size == 0)
    #expect(response.body?.digest == SHA256.digest(of: ""))
  }

  @Test("A compressed body arrives decoded")
  func compressedBody() throws {
    let server = try LoopbackServer { _ in
      .respond(200, [("Content-Encoding", "gzip")], body: Self.gzip)
    }
    let bench = try TransferBench()
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(try bench.text(of: response) == "hello, compressed world\n")
    #expect(bench.staging.expectedSizes == [nil])
    #expect(server.requests.first?.headers["Accept-Encoding"]?.contains("gzip") == true)
  }

  @Test("A request without compression asks for identity, and a coded response is decoded")
  func identity() throws {
    let server = try LoopbackServer { _ in
      .respond(200, [("Content-Encoding", "gzip")], body: Self.gzip)
    }
    let bench = try TransferBench()
    let request = bench.request(try server.url()) { $0.allowsCoding = false }
    let response = try bench.response(to: request)
    #expect(try bench.text(of: response) == "hello, compressed world\n")
    #expect(server.requests.first?.headers.all("Accept-Encoding") == ["identity"])
  }

  @Test("A file that is gzip by its name is kept compressed", arguments: ["/a.tar.gz", "/a.TGZ"])
  func archive(target: String) throws {
    let server = try LoopbackServer { _ in
      .respond(200, [("Content-Encoding", "x-gzip")], body: Self.gzip)
    }
    let bench = try TransferBench()
    for allowsCoding in [false, true] {
      let request = bench.request(try server.url(target)) { $0.allowsCoding = allowsCoding }
      let body = try #require(try bench.response(to: request).body)
      #expect(bench.staging.bytes(of: body) == Self.gzip)
    }
  }

  @Test("A large body keeps its bytes and is reported while it arrives")
  func largeBody() throws {
    let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    let server = try LoopbackServer { _ in .respond(200, body: bytes) }
    let bench = try TransferBench()
    let body = try bench.response(to: bench.request(try server.url())).body
    #expect(body?.size == 1 << 20)
    #expect(body?.digest == SHA256.digest(of: bytes))
  }

  @Test("Progress counts the bytes that arrived while a body is slow")
  func progress() throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(200, [("Content-Length", "6")])), .send([1, 2, 3]), .pause(gate),
        .send([4, 5, 6]),
      ])
    }
    let bench = try TransferBench()
    let request = bench.request(try server.url())
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] == 3 {
        gate.open()
      }
    }
    #expect(try results[request.id]?.outcome.get().body?.size == 6)
  }

  @Test(
    "Statuses without a wanted body are responses too",
    arguments: [204, 301, 404, 416, 500, 503]
  )
  func bodiless(status: Int) throws {
    let server = try LoopbackServer { _ in
      status == 204
        ? .raw("HTTP/1.1 204 No Content\r\n\r\n")
        : .respond(status, [("Location", "/elsewhere")], text: "page")
    }
    let bench = try TransferBench()
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(response.status == status)
    #expect(response.body == nil)
    #expect(bench.staging.bodyCount == 0)
    #expect(server.requests.count == 1)
  }

  @Test("An unwanted body is cut off, and its response is used", arguments: [404, 503])
  func endlessUnwantedBody(status: Int) throws {
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(status, [("Transfer-Encoding", "chunked")])),
        .repeatForever(Array("400\r\n\(String(repeating: "x", count: 1_024))\r\n".utf8)),
      ])
    }
    let bench = try TransferBench()
    #expect(try bench.response(to: bench.request(try server.url())).status == status)
  }

  @Test(
    "A redirect is a response, whatever its target",
    arguments: ["ftp://a/b", "file:///etc/passwd"]
  )
  func redirect(target: String) throws {
    let server = try LoopbackServer { _ in .respond(302, [("Location", target)]) }
    let bench = try TransferBench()
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(response.status == 302)
    #expect(response.headers["Location"] == target)
  }

  @Test("A second response over the same connection is measured as such")
  func figures() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench()
    let first = try bench.result(of: bench.request(try server.url())).figures
    #expect(!first.didReuseConnection)
    #expect(first.connect != nil)
    #expect(first.started != nil)
    let second = try bench.result(of: bench.request(try server.url())).figures
    #expect(second.didReuseConnection)
    #expect(second.connect == nil)
    #expect(second.firstByte != nil)
    #expect(second.lesson == nil)
    #expect(second.started ?? .init(seconds: 0) >= first.started ?? .distantFuture)
    #expect(second.requestBytes == first.requestBytes && first.requestBytes ?? 0 > 20)
  }

  @Test("Sent bytes include the body")
  func sentBytes() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench()
    let url = try server.url()
    let unposted = try bench.result(of: bench.request(url)).figures
    let posted = try bench.result(
      of: bench.request(url, method: .post(body: [UInt8](repeating: 1, count: 5000)))
    ).figures
    #expect((posted.requestBytes ?? 0) - (unposted.requestBytes ?? 0) > 5000)
  }

  @Test("304 is a response when a validator was sent")
  func notModified() throws {
    let site = Site(["/a": Site.Page(Array("x".utf8), entityTag: "\"é\"")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let bench = try TransferBench()
    let headers = [HeaderField("If-None-Match", "\"é\"")]
    let response = try bench.response(to: bench.request(try server.url("/a"), headers: headers))
    #expect(response.status == 304)
    #expect(response.body == nil)
  }

  @Test("A requested part is a body")
  func part() throws {
    let site = Site(["/a": Site.Page("0123456789")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let bench = try TransferBench()
    let request = bench.request(
      try server.url("/a"),
      headers: [HeaderField("Range", "bytes=4-")]
    ) { $0.allowsCoding = false }
    let response = try bench.response(to: request)
    #expect(response.status == 206)
    #expect(response.headers["Content-Range"] == "bytes 4-9/10")
    #expect(try bench.text(of: response) == "456789")
  }

  @Test("An open end is accepted when the size is known from elsewhere")
  func openEndOfKnownSize() throws {
    let server = try LoopbackServer { _ in
      .raw("HTTP/1.0 200 OK\r\n\r\nhello", then: .close)
    }
    let bench = try TransferBench()
    let request = bench.request(try server.url()) { $0.expectedSize = 5 }
    #expect(try bench.text(of: bench.response(to: request)) == "hello")
  }

  @Test(
    "A response with more bytes after it is refused, and its connection is dropped",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /other\r\n\r\n",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
    ]
  )
  func excess(prefix: String) throws {
    let server = try LoopbackServer { request in
      request.target == "/" ? .raw("\(prefix)HTTP/1.1 200 OK\r\n\r\n") : .respond(200, text: "good")
    }
    let bench = try TransferBench { $0.workers = 1 }
    let failure = try bench.failure(of: bench.request(try server.url()))
    #expect(failure.code == .badResponse)
    #expect(!failure.isTransient)
    #expect(bench.staging.bodyCount == 0)
    for _ in 0..<2 {
      let response = try bench.response(to: bench.request(try server.url("/next")))
      #expect(try bench.text(of: response) == "good")
    }
    #expect(server.connectionCount == 2)
  }

  @Test("Late bytes after a response make its connection be dropped")
  func lateExcess() throws {
    let gate = Gate()
    let late = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8)
    let first = Script.head(200, [("Content-Length", "5")]) + Array("hello".utf8)
    let server = try LoopbackServer { request in
      request.target == "/"
        ? Script([.send(first), .pause(gate), .send(late)]) : .respond(200, text: "good")
    }
    let bench = try TransferBench { $0.workers = 1 }
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(try bench.text(of: response) == "hello")
    gate.open()
    let limit = bench.clock.now().uptime + .seconds(30)
    while server.sentByteCount < first.count + late.count {
      let now = bench.clock.now().uptime
      try #require(now < limit, "the server did not go on")
      #expect(bench.transport.wait(until: now + .milliseconds(1)).isEmpty)
    }
    let next = try bench.response(to: bench.request(try server.url("/next")))
    #expect(try bench.text(of: next) == "good")
    #expect(server.connectionCount == 2)
  }

  @Test("A body where none is allowed is dropped with its connection, and the response is used")
  func bodyOfNothing() throws {
    let server = try LoopbackServer { request in
      let status = request.method == "HEAD" ? "200 OK" : "304 Not Modified"
      return .raw("HTTP/1.1 \(status)\r\nContent-Length: 5\r\n\r\nhello")
    }
    let bench = try TransferBench { $0.workers = 1 }
    let condition = [HeaderField("If-None-Match", "\"a\"")]
    let same = try bench.response(to: bench.request(try server.url(), headers: condition))
    #expect(same.status == 304)
    let head = try bench.response(to: bench.request(try server.url(), method: .head))
    #expect(head.status == 200)
    #expect(head.body == nil)
    #expect(server.connectionCount == 2)
  }

  @Test("Informational heads are skipped")
  func informational() throws {
    let server = try LoopbackServer { _ in
      .raw(
        "HTTP/1.1 103 Early Hints\r\nETag: no\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
      )
    }
    let bench = try TransferBench()
    let response = try bench.response(to: bench.request(try server.url()))
    #expect(response.headers.fields == [HeaderField("Content-Length", "1")])
  }
}
