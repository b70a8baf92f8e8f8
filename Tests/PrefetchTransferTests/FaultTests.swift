import PrefetchCore
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Invalid responses", .timeLimit(.minutes(10)))
struct FaultTests {
  @Test(
    "A wrong response is the expected failure and leaves nothing behind",
    arguments: Misbehaviour.all
  )
  func misbehaviour(_ misbehaviour: Misbehaviour) throws {
    let server = try LoopbackServer { _ in misbehaviour.script }
    let bench = try TransferBench()
    let failure = try bench.failure(of: bench.request(try server.url("/path?token=secret")))
    #expect(failure.code == misbehaviour.code, "\(failure.message)")
    #expect(failure.isTransient == misbehaviour.isTransient, "\(failure.message)")
    #expect(failure.message.contains("127.0.0.1:\(server.port)"), "\(failure.message)")
    #expect(!failure.message.contains("secret"))
    #expect(bench.staging.bodyCount == 0)
    #expect(bench.staging.abandonedCount == bench.staging.expectedSizes.count)
  }

  @Test("A reset within the body is a reset")
  func resetWithinBody() throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(200, [("Content-Length", "10")]) + Array("hello".utf8)), .pause(gate),
        .reset,
      ])
    }
    let bench = try TransferBench()
    let request = bench.request(try server.url())
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] == 5 {
        gate.open()
      }
    }
    #expect(throws: Failure.self) { try results[request.id]?.outcome.get() }
    guard case .failure(let failure) = results[request.id]?.outcome else { return }
    #expect(failure.code == .reset)
    #expect(failure.isTransient)
    #expect(bench.staging.abandonedCount == 1)
  }

  @Test("A length beyond the limit ends the transfer before its first byte")
  func announcedSize() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "hello") }
    let bench = try TransferBench()
    let request = bench.request(try server.url()) { $0.sizeLimit = 4 }
    #expect(try bench.failure(of: request).code == .tooLarge)
    #expect(bench.staging.expectedSizes.isEmpty)
    let exact = bench.request(try server.url()) { $0.sizeLimit = 5 }
    #expect(try bench.response(to: exact).body?.size == 5)
  }

  @Test("An endless body ends at the limit")
  func endlessBody() throws {
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(200, [("Transfer-Encoding", "chunked")])),
        .repeatForever(Array("400\r\n\(String(repeating: "x", count: 1_024))\r\n".utf8)),
      ])
    }
    let bench = try TransferBench()
    let request = bench.request(try server.url()) { $0.sizeLimit = 300_000 }
    let result = try bench.result(of: request)
    guard case .failure(let failure) = result.outcome else {
      Issue.record("the body was accepted")
      return
    }
    #expect(failure.code == .tooLarge)
    #expect(!failure.isTransient)
    #expect(result.figures.wireBytes < 2_000_000)
    #expect(bench.staging.abandonedCount == 1)
  }

  @Test("A body that grows more than a thousandfold is refused, with a length or without")
  func bomb() throws {
    // Four mebibytes of zeros in 4,098 bytes.
    let start: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 1, 1, 0, 0, 0, 0x82, 0x20, 0xFF, 0xAF, 0x6E,
      0x48, 0x40, 1,
    ]
    let end: [UInt8] = [0x7C, 0x1B, 0x6A, 0x40, 0x47, 0x11, 0, 0, 0x40, 0]
    let bytes = start + [UInt8](repeating: 0, count: 4_063) + end
    let coding = [("Content-Encoding", "gzip")]
    let server = try LoopbackServer { request in
      request.target == "/chunked"
        ? .chunked(200, coding, chunks: [bytes]) : .respond(200, coding, body: bytes)
    }
    for path in ["/", "/chunked"] {
      let bench = try TransferBench()
      let failure = try bench.failure(of: bench.request(try server.url(path)))
      #expect(failure.code == .tooLarge, "\(failure.message)")
      #expect(bench.staging.bodyCount == 0)
    }
  }

  @Test("A server that falls silent has stalled", arguments: ["/head", "/body", "/extension"])
  func stall(path: String) throws {
    let server = try LoopbackServer { request in
      switch request.target {
      case "/head":
        Script([.silence])
      case "/body":
        .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", then: .silence)
      default:
        // An endless chunk extension never becomes part of the body.
        Script([
          .send(Script.head(200, [("Transfer-Encoding", "chunked")]) + Array("5;".utf8)),
          .repeatForever(Array("extension".utf8)),
        ])
      }
    }
    let bench = try TransferBench { $0.readTimeout = .milliseconds(60) }
    let result = try bench.result(of: bench.request(try server.url(path)))
    #expect(result.failure?.code == .stalled)
    #expect(result.failure?.isTransient == true)
    #expect(result.figures.total ?? .zero >= .milliseconds(55), "the silence counts")
  }

  @Test("A drip that never stalls ends with the item's timeout")
  func itemTimeout() throws {
    let server = try LoopbackServer { _ in
      Script([
        .send(Script.head(200, [("Transfer-Encoding", "chunked")])),
        .repeatForever(Array("1\r\nx\r\n".utf8)),
      ])
    }
    let bench = try TransferBench { $0.itemTimeout = .milliseconds(80) }
    let failure = try bench.failure(of: bench.request(try server.url()))
    #expect(failure.code == .timeout)
  }

  @Test("A port without a listener refuses the connection")
  func refusedConnection() throws {
    let url = try LoopbackServer { _ in .respond(200) }.url()
    let bench = try TransferBench()
    let failure = try bench.failure(of: bench.request(url))
    #expect(failure.code == .connect)
    #expect(failure.isTransient)
    #expect(failure.message == "`\(url.host):\(url.port)` refused the connection")
  }

  @Test("A name that cannot exist is a lookup failure")
  func unknownName() throws {
    let bench = try TransferBench()
    let failure = try bench.failure(of: bench.request(try WebURL("http://nowhere.invalid/")))
    #expect(failure.code == .dns)
    #expect(failure.isTransient)
  }

  @Test("Other bytes than TLS on a TLS URL are a TLS failure")
  func noTLS() throws {
    let greeting = Script.raw("HTTP/1.1 400 Bad Request\r\n\r\n")
    let server = try LoopbackServer(greeting: greeting) { _ in .respond(200) }
    let bench = try TransferBench()
    let url = try WebURL("https://127.0.0.1:\(server.port)/")
    let failure = try bench.failure(of: bench.request(url))
    #expect(failure.code == .tls, "\(failure.message)")
    #expect(failure.isTransient)
  }

  @Test("A TLS server that never answers is a timeout of the connection")
  func silentHandshake() throws {
    let server = try LoopbackServer(greeting: Script([.silence])) { _ in .respond(200) }
    let bench = try TransferBench { $0.connectTimeout = .milliseconds(100) }
    let url = try WebURL("https://127.0.0.1:\(server.port)/")
    let failure = try bench.failure(of: bench.request(url))
    #expect(failure.code == .timeout, "\(failure.message)")
    #expect(failure.isTransient)
  }

  @Test("A refusing proxy is named and never bypassed")
  func refusingProxy() throws {
    let proxy = try LoopbackServer { _ in .respond(407, text: "who?") }
    let bench = try TransferBench { $0.proxy = .url(Secret("http://127.0.0.1:\(proxy.port)")) }
    let failure = try bench.failure(of: bench.request(try WebURL("https://127.0.0.1:1/")))
    #expect(failure.code == .credentialsRefused)
    #expect(
      failure.message.hasPrefix("the proxy `127.0.0.1:\(proxy.port)` did not accept")
    )
    #expect(!failure.isTransient)
  }

  @Test("A cancelled transfer ends once as cancelled and leaves the others alone")
  func cancellation() throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      guard request.target == "/slow" else { return .respond(200, text: "x") }
      return Script([.send(Script.head(200, [("Content-Length", "2")]) + [1]), .pause(gate)])
    }
    let bench = try TransferBench()
    let slow = bench.request(try server.url("/slow"))
    let results = try bench.results(of: [slow, bench.request(try server.url("/a"))]) {
      if bench.progress[slow.id] == 1 {
        bench.transport.cancel(slow.id)
        bench.transport.cancel(slow.id)
      }
    }
    guard case .failure(let failure) = results[slow.id]?.outcome else {
      Issue.record("the transfer went on")
      return
    }
    #expect(failure.code == .cancelled)
    #expect(results.values.filter { (try? $0.outcome.get().status) == 200 }.count == 1)
    #expect(bench.staging.abandonedCount == 1)
    bench.transport.cancel(slow.id)
    #expect(bench.transport.wait(until: .zero).isEmpty)
  }

  @Test("A wait ends with its deadline, and at once when that is past")
  func waiting() throws {
    let bench = try TransferBench()
    #expect(bench.transport.wait(until: .zero).isEmpty)
    let deadline = bench.clock.now().uptime + .milliseconds(20)
    while bench.clock.now().uptime < deadline {
      #expect(bench.transport.wait(until: deadline).isEmpty)
    }
  }

  @Test("A failing disk is the transfer's failure, wherever it occurs", arguments: 0..<3)
  func failingDisk(stage: Int) throws {
    let server = try LoopbackServer { _ in .respond(200, text: "hello") }
    let bench = try TransferBench()
    let full = Failure(.diskFull, "no space left")
    switch stage {
    case 0: bench.staging.beginFailure = full
    case 1: bench.staging.capacity = 4
    default: bench.staging.finishFailure = full
    }
    let failure = try bench.failure(of: bench.request(try server.url()))
    #expect(failure.code == .diskFull)
    #expect(bench.staging.bodyCount == 0)
    #expect(bench.staging.abandonedCount == bench.staging.expectedSizes.count)
  }
}
