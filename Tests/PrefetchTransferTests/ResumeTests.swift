import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Interrupted and resumed bodies", .timeLimit(.minutes(10)))
struct ResumeTests {
  private static let text = "0123456789"
  private static let tag = "\"v1\""

  /// Returns a correct response that breaks off after five bytes.
  private static func half(_ end: Script.Step, _ headers: [(String, String)] = []) -> Script {
    let head = Script.head(200, [("ETag", tag), ("Content-Length", "10")] + headers)
    return Script([.send(head + Array("01234".utf8)), end])
  }

  private func request(
    _ bench: TransferBench,
    _ url: WebURL,
    continuing part: PartialBody? = nil
  ) -> TransferRequest {
    bench.request(url) {
      $0.partialKey = "key"
      $0.partial = part
    }
  }

  /// The part that a first, broken transfer left.
  private func part(_ bench: TransferBench, _ url: WebURL) throws -> PartialBody {
    let result = try bench.result(of: request(bench, url))
    #expect(throws: Failure.self) { try result.outcome.get() }
    return try #require(result.partial)
  }

  @Test("Bytes received before a break are kept, and only the rest is requested")
  func rest() throws {
    let server = try LoopbackServer { request in
      guard request.headers["Range"] != nil else { return Self.half(.close) }
      let headers = [("ETag", Self.tag), ("Content-Range", "bytes 5-9/10")]
      return .respond(206, headers, text: "56789")
    }
    let bench = try TransferBench()
    let url = try server.url("/a?b")
    let part = try part(bench, url)
    #expect([part.source, part.validator] == [url.string, Self.tag])
    #expect([part.offset, part.wholeSize] == [5, 10])
    let result = try bench.result(of: request(bench, url, continuing: part))
    let response = try result.outcome.get()
    #expect(response.status == 206)
    #expect(try bench.text(of: response) == Self.text)
    #expect(response.body?.digest == SHA256.digest(of: Self.text))
    #expect(result.partial == nil)
    #expect(bench.staging.partials.isEmpty)
    let headers = try #require(server.requests.last?.headers)
    #expect(headers.all("Range") == ["bytes=5-"])
    #expect(headers.all("If-Range") == [Self.tag])
    #expect(headers.all("Accept-Encoding") == ["identity"])
  }

  @Test("A body may break off several times")
  func repeatedly() throws {
    let server = try LoopbackServer { request in
      switch request.headers["Range"] {
      case nil:
        Self.half(.close)
      case "bytes=5-":
        Script([
          .send(
            Script.head(206, [("Content-Range", "bytes 5-9/10"), ("Content-Length", "5")])
              + Array("56".utf8)
          ), .close,
        ])
      default:
        .respond(206, [("Content-Range", "bytes 7-9/10")], text: "789")
      }
    }
    let bench = try TransferBench()
    let url = try server.url()
    let first = try part(bench, url)
    let second = try bench.result(of: request(bench, url, continuing: first))
    #expect(second.partial?.offset == 7)
    let third = try bench.response(to: request(bench, url, continuing: second.partial))
    #expect(try bench.text(of: third) == Self.text)
    #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=5-", "bytes=7-"])
  }

  @Test("The whole body has the first response's head, renewed by each part")
  func head() throws {
    let first = [
      ("Date", "monday"), ("Age", "9"), ("Content-Type", "video/mp4"),
      ("Cache-Control", "no-cache"),
      ("Connection", "close"),
    ]
    let server = try LoopbackServer { request in
      switch request.headers["Range"] {
      case nil:
        return Self.half(.close, first)
      case "bytes=5-":
        let lines = [
          ("Content-Range", "bytes 5-9/10"), ("Content-Length", "5"), ("Date", "tuesday"),
          ("Cache-Control", "max-age=60"),
        ]
        return Script([.send(Script.head(206, lines) + Array("56".utf8)), .close])
      default:
        let lines = [("Content-Range", "bytes 7-9/*"), ("Date", "friday")]
        return .chunked(206, lines, chunks: [Array("789".utf8)])
      }
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    let second = try bench.result(of: request(bench, url, continuing: part))
    #expect(second.partial?.head["Date"] == "tuesday")
    let response = try bench.response(to: request(bench, url, continuing: second.partial))
    #expect(response.status == 206)
    let lines = response.headers.fields.map { "\($0.name): \($0.value)" }
    let expected = [
      "ETag: \(Self.tag)", "Content-Type: video/mp4", "Cache-Control: max-age=60", "Date: friday",
      "Content-Length: 10",
    ]
    #expect(Set(lines) == Set(expected), "\(lines)")
    #expect(lines.count == expected.count)
  }

  @Test("A part stays when the server does not mention it", arguments: [true, false])
  func silence(isHeadSent: Bool) throws {
    let server = try LoopbackServer { request in
      guard request.headers["Range"] != nil else { return Self.half(.close) }
      let head = Script.head(206, [("Content-Range", "bytes 5-9/10"), ("Content-Length", "5")])
      return isHeadSent ? Script([.send(head), .close]) : Script([.close])
    }
    let bench = try TransferBench()
    let url = try server.url()
    let first = try part(bench, url)
    let result = try bench.result(of: request(bench, url, continuing: first))
    #expect(throws: Failure.self) { try result.outcome.get() }
    #expect(result.partial == first)
    #expect(bench.staging.partials["key"] == first)
  }

  @Test("A server with another body sends it whole, and the part is dropped")
  func changed() throws {
    let server = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Self.half(.reset) : .respond(200, [("ETag", "\"v2\"")], text: "something else")
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    let response = try bench.response(to: request(bench, url, continuing: part))
    #expect(response.status == 200)
    #expect(try bench.text(of: response) == "something else")
    #expect(bench.staging.partials.isEmpty)
  }

  @Test(
    "A response that is not the rest is refused, and the whole may be requested",
    arguments: [
      [("Content-Range", "bytes 4-9/10")], [("Content-Range", "bytes 5-9/11")],
      [("Content-Range", "bytes 5-8/10")], [("Content-Range", "bytes 5-9/10"), ("ETag", "\"v2\"")],
      [("Content-Range", "bytes 5-9/10"), ("Content-Encoding", "gzip")],
      [("Content-Type", "multipart/byteranges; boundary=x")], [],
    ]
  )
  func otherRest(headers: [(String, String)]) throws {
    let server = try LoopbackServer { request in
      request.headers["Range"] == nil ? Self.half(.close) : .respond(206, headers, text: "56789")
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    let result = try bench.result(of: request(bench, url, continuing: part))
    guard case .failure(let failure) = result.outcome else {
      Issue.record("the answer was accepted")
      return
    }
    #expect(failure.code == .badResponse)
    #expect(failure.isTransient)
    #expect(result.partial == nil)
    #expect(bench.staging.bodyCount == 0)
  }

  @Test("A complete coded response to a range request is decoded and replaces the part")
  func codedWhole() throws {
    let server = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Self.half(.close)
        : .respond(200, [("Content-Encoding", "gzip")], body: ResponseTests.gzip)
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    let response = try bench.response(to: request(bench, url, continuing: part))
    #expect(try bench.text(of: response) == "hello, compressed world\n")
  }

  @Test("More than the rest is refused, and less is kept", arguments: ["567890", "567"])
  func wrongLength(text: String) throws {
    let server = try LoopbackServer { request in
      guard request.headers["Range"] != nil else { return Self.half(.close) }
      let headers = [("Content-Range", "bytes 5-9/10")]
      return .chunked(206, headers, chunks: [Array(text.utf8)])
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    let result = try bench.result(of: request(bench, url, continuing: part))
    guard case .failure(let failure) = result.outcome else {
      Issue.record("the answer was accepted")
      return
    }
    #expect(failure.isTransient)
    #expect(failure.code == (text.count > 5 ? .badResponse : .truncated))
    #expect(result.partial?.offset == (text.count > 5 ? nil : 8))
  }

  @Test("A 416 with the size of the part completes it", arguments: [10, 11])
  func complete(size: Int) throws {
    let server = try LoopbackServer { request in
      if request.headers["Range"] != nil {
        return .respond(416, [("Content-Range", "bytes */\(size)")], text: "no such part")
      }
      return .raw("HTTP/1.1 200 OK\r\nETag: \(Self.tag)\r\n\r\n\(Self.text)", then: .close)
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = try part(bench, url)
    #expect(part.wholeSize == nil)
    let response = try bench.response(to: request(bench, url, continuing: part))
    #expect(response.status == 416)
    guard size == 10 else {
      #expect(response.body == nil)
      return
    }
    #expect(try bench.text(of: response) == Self.text)
    #expect(response.headers["ETag"] == Self.tag)
    #expect(response.headers["Content-Length"] == "10")
    #expect(!response.headers.has("Content-Range"))
  }

  @Test("A request for another URL than the part's is for the whole")
  func otherSource() throws {
    let server = try LoopbackServer { _ in .respond(200, text: Self.text) }
    let bench = try TransferBench()
    let part = PartialBody(source: "http://other/", validator: Self.tag, offset: 5)
    let response = try bench.response(to: request(bench, server.url(), continuing: part))
    #expect(try bench.text(of: response) == Self.text)
    #expect(server.requests.map { $0.headers["Range"] } == [nil])
  }

  @Test("Conditions are sent with a range, and a 304 answers them")
  func unchanged() throws {
    let server = try LoopbackServer { _ in .raw("HTTP/1.1 304 Not Modified\r\n\r\n") }
    let bench = try TransferBench()
    let url = try server.url()
    var request = request(
      bench,
      url,
      continuing: PartialBody(source: url.string, validator: Self.tag, offset: 5)
    )
    request.headers = [HeaderField("If-None-Match", "\"v0\"")]
    #expect(try bench.response(to: request).status == 304)
    #expect(server.requests.last?.headers["Range"] == "bytes=5-")
  }

  @Test("A part that differs from its description leads to a retry without it")
  func lostPart() throws {
    let server = try LoopbackServer { _ in
      .respond(206, [("Content-Range", "bytes 5-9/10")], text: "56789")
    }
    let bench = try TransferBench()
    let url = try server.url()
    let part = PartialBody(source: url.string, validator: Self.tag, offset: 5, wholeSize: 10)
    let result = try bench.result(of: request(bench, url, continuing: part))
    guard case .failure(let failure) = result.outcome else {
      Issue.record("the rest was accepted")
      return
    }
    #expect(failure.isTransient)
    #expect(result.partial == nil)
  }

  @Test(
    "Nothing is kept where the rest could belong to another body",
    arguments: [
      [("ETag", "W/\"v1\"")], [("Accept-Ranges", "none"), ("ETag", "\"v1\"")], [],
      [
        ("Last-Modified", "Tue, 01 Jul 2025 12:00:00 GMT"),
        ("Date", "Tue, 01 Jul 2025 12:00:01 GMT"),
      ],
    ]
  )
  func unresumable(headers: [(String, String)]) throws {
    let server = try LoopbackServer { _ in
      let head = Script.head(200, headers + [("Content-Length", "10")])
      return Script([.send(head + Array("01234".utf8)), .close])
    }
    let bench = try TransferBench()
    let result = try bench.result(of: request(bench, server.url()))
    #expect(result.partial == nil)
    #expect(bench.staging.partials.isEmpty)
    #expect(bench.staging.abandonedCount == 1)
  }

  @Test("A stall and a cancellation keep received bytes", arguments: [true, false])
  func ownBreak(isStall: Bool) throws {
    let server = try LoopbackServer { _ in Self.half(.silence) }
    let bench = try TransferBench {
      $0.readTimeout = isStall ? .milliseconds(60) : .seconds(30)
    }
    let request = request(bench, try server.url())
    let results = try bench.results(of: [request]) {
      if !isStall, bench.progress[request.id] == 5 { bench.transport.cancel(request.id) }
    }
    #expect(results[request.id]?.partial?.offset == 5)
  }

  @Test("A full disk keeps the bytes that fit")
  func fullDisk() throws {
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(200, [("ETag", Self.tag), ("Content-Length", "200000")])),
        .send([UInt8](repeating: 1, count: 200_000)),
      ])
    }
    let bench = try TransferBench()
    bench.staging.capacity = 100_000
    let result = try bench.result(of: request(bench, server.url()))
    guard case .failure(let failure) = result.outcome else {
      Issue.record("the body was accepted")
      return
    }
    #expect(failure.code == .diskFull)
    #expect(result.partial.map { $0.offset <= 100_000 } == true)
  }
}
