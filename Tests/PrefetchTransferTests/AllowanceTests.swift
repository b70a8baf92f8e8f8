import PrefetchTestSupport
import Testing

@testable import PrefetchCore
@testable import PrefetchTransfer

@Suite("Allowances shared by transfers", .timeLimit(.minutes(10)))
struct AllowanceTests {
  private static let tag = "\"v1\""
  private static let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) }
  /// Size of one read, which may exceed a used-up allowance.
  private static let read = EasyHandle.countedBufferSize

  private func request(_ bench: TransferBench, _ url: WebURL, _ sizes: Int...) -> TransferRequest {
    bench.request(url) { request in
      request.partialKey = url.string
      request.allowances = sizes.indices.map {
        .init(number: $0, bytes: Int64(sizes[$0]), whole: .max, period: .day)
      }
    }
  }

  enum Framing: CaseIterable {
    case length
    case chunks
    case manyChunks
  }

  private func serve(_ framing: Framing, _ count: Int) throws -> LoopbackServer {
    let body = Array(Self.body.prefix(count))
    let tag = [("ETag", Self.tag)]
    return try LoopbackServer { _ in
      switch framing {
      case .length: .respond(200, tag, body: body)
      case .chunks: .chunked(200, tag, chunks: [body])
      case .manyChunks:
        .chunked(
          200,
          tag,
          chunks: stride(from: 0, to: count, by: 997).map {
            Array(body[$0..<min(count, $0 + 997)])
          }
        )
      }
    }
  }

  @Test(
    "A body that completes when the allowance ends is the response",
    arguments: Framing.allCases,
    [1, 10, 8_192, 100_000]
  )
  func whole(framing: Framing, count: Int) throws {
    let server = try serve(framing, count)
    for allowed in [count, count - min(count - 1, 1_000)] {
      let bench = try TransferBench()
      let request = request(bench, try server.url(), allowed, 1 << 40)
      let response = try bench.response(to: request)
      let isSame =
        bench.staging.bytes(of: try #require(response.body)) == Array(Self.body.prefix(count))
      #expect(isSame)
      // Nothing is left for the next request.
      let next = try bench.result(of: self.request(bench, try server.url("/next"), allowed))
      guard case .failure(let failure) = next.outcome else {
        Issue.record("bytes were taken without permission")
        continue
      }
      #expect(failure.code == .cancelled)
      #expect(bench.staging.bodyCount == 1)
    }
  }

  @Test("Received bytes are kept, and at most one read exceeds the allowance", arguments: [1, 2])
  func part(count: Int) throws {
    let server = try serve(.length, Self.body.count)
    let bench = try TransferBench()
    let urls = try (0..<count).map { try server.url("/\($0)") }
    let requests = urls.map { request(bench, $0, 200_000) }
    let results = try bench.results(of: requests)
    var received: Int64 = 0
    for request in requests {
      let result = try #require(results[request.id])
      guard case .failure(let failure) = result.outcome else {
        Issue.record("more was taken than came with the last bytes allowed")
        continue
      }
      #expect(failure.code == .cancelled)
      received += result.partial?.offset ?? 0
    }
    #expect((1...200_000 + Int64(Self.read)).contains(received))
    #expect(count > 1 || received >= 200_000)
  }

  @Test("Received bytes count although the transfer ends within a chunk")
  func count() throws {
    let headers = [("ETag", Self.tag), ("Transfer-Encoding", "chunked")]
    let size = "\(String(Self.body.count, radix: 16))\r\n"
    let server = try LoopbackServer { _ in
      Script([.send(Script.head(200, headers) + Array(size.utf8) + Self.body)])
    }
    let bench = try TransferBench()
    let result = try bench.result(of: request(bench, try server.url(), 10))
    let kept = try #require(result.partial).offset
    #expect((10...Int64(Self.read)).contains(kept))
    #expect(result.figures.wireBytes > kept)
  }

  @Test("A complete body that waits for its rate is the response when it is cancelled")
  func paused() throws {
    let gate = Gate()
    let head = Script.head(200, [("Content-Length", "16400")])
    let server = try LoopbackServer { _ in
      // The burst comes first; the bytes after it wait for the allowance.
      Script([
        .send(head + Self.body.prefix(16_384)), .pause(gate), .send(Array(Self.body.prefix(16))),
      ])
    }
    let bench = try TransferBench { $0.rate = .steady(1) }
    let request = request(bench, try server.url())
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] == 16_384 { gate.open() }
      if bench.progress[request.id] == 16_400 { bench.transport.cancel(request.id) }
    }
    let result = try #require(results[request.id])
    #expect(try result.outcome.get().body?.size == 16_400)
  }
}
