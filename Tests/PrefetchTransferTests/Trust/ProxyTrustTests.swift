import PrefetchTestSupport
import PrefetchTransfer
import Testing

@testable import PrefetchCore

@Suite("Trust behind a proxy", .timeLimit(.minutes(10)))
struct ProxyTrustTests {
  private let ground: TrustGround
  private let origin: TLSServer
  private let key: TestKey

  init() throws {
    ground = try TrustGround.shared.get()
    let leaf = try ground.leaf()
    key = leaf.key
    origin = try TLSServer(TLSServer.Options(leaf))
  }

  private func proxy(isEncrypted: Bool, by issuer: TestCertificate? = nil) throws -> TLSServer {
    var options = TLSServer.Options(.tunnel())
    if isEncrypted { options.chain = [try ground.leaf(by: issuer)] }
    return try TLSServer(options)
  }

  private func bench(
    _ proxy: TLSServer,
    isEncrypted: Bool,
    exceptions: String? = nil
  ) throws -> TransferBench {
    let authorities = ground.authorities
    return try TransferBench { settings in
      settings.workers = 1
      settings.caFile = authorities
      settings.proxyCAFile = authorities
      settings.proxy = .environment(
        http: nil,
        https: "\(isEncrypted ? "https" : "http")://127.0.0.1:\(proxy.port)",
        exceptions: exceptions
      )
    }
  }

  private func pinning(_ key: TestKey) -> Shared<ConnectionRules> {
    var rules = ConnectionRules()
    rules.pins = [PinRule(leaf: [key.digest], authority: nil, entries: ["tls.pins.here"])]
    return Shared(rules)
  }

  @Test("Pins apply to the origin and not to the proxy", arguments: [false, true])
  func pins(isEncrypted: Bool) throws {
    let proxy = try proxy(isEncrypted: isEncrypted)
    let bench = try bench(proxy, isEncrypted: isEncrypted)
    // Twice each, since the second request may reuse connections and sessions of the first.
    for _ in 0..<2 {
      let good = bench.request(try origin.url()) { $0.connection = pinning(key) }
      #expect(try bench.response(to: good).status == 200)
    }
    #expect(origin.record.requests == 2)
    for _ in 0..<2 {
      let bad = bench.request(try origin.url()) { $0.connection = pinning(ground.rsa) }
      #expect(try bench.failure(of: bad).code == .pinMismatch)
    }
    #expect(origin.record.requests == 2)
    #expect(proxy.record.connections == 3)
    #expect(proxy.record.handshakes == (isEncrypted ? 3 : 0))
  }

  @Test("A handle that used an encrypted proxy does not check the next proxy against pins")
  func secondTunnel() throws {
    let proxy = try proxy(isEncrypted: true)
    var options = TLSServer.Options(try ground.leaf(key: key))
    options.conduct = .untilClose(saysSo: true)
    let closing = try TLSServer(options)
    let bench = try bench(proxy, isEncrypted: true)
    for _ in 0..<3 {
      let request = bench.request(try closing.url()) { request in
        request.connection = pinning(key)
        request.expectedSize = 5
      }
      #expect(try bench.response(to: request).status == 200)
    }
    #expect(proxy.record.handshakes == 3)
  }

  @Test("A host that is exempt from an encrypted proxy is held to its pins")
  func exceptedHost() throws {
    let proxy = try proxy(isEncrypted: true)
    let bench = try bench(proxy, isEncrypted: true, exceptions: "127.0.0.1")
    let bad = bench.request(try origin.url()) { $0.connection = pinning(ground.rsa) }
    #expect(try bench.failure(of: bad).code == .pinMismatch)
    #expect(origin.record.bytes == 0)
    let good = bench.request(try origin.url()) { $0.connection = pinning(key) }
    #expect(try bench.response(to: good).status == 200)
    #expect(proxy.record.connections == 0)
  }

  @Test("An encrypted proxy must be trusted")
  func strangeProxy() throws {
    let proxy = try proxy(isEncrypted: true, by: ground.stranger)
    let bench = try bench(proxy, isEncrypted: true)
    let failure = try bench.failure(of: bench.request(try origin.url()))
    #expect(failure.code == .certificate, "\(failure.message)")
    let name = "the certificate of the proxy `127.0.0.1:\(proxy.port)` is not trusted"
    #expect(failure.message.hasPrefix(name), "\(failure.message)")
    #expect(!failure.message.contains("tls.ca_file"), "\(failure.message)")
    #expect(proxy.record.bytes == 0)
    #expect(origin.record.connections == 0)
  }

  @Test(
    "HTTP/2 is negotiated with the origin, however the proxy speaks",
    .enabled(if: TLSServer.canSpeakHTTP2, "needs a library for HTTP/2"),
    arguments: [false, true]
  )
  func versions(isEncrypted: Bool) throws {
    let proxy = try proxy(isEncrypted: isEncrypted)
    let bench = try bench(proxy, isEncrypted: isEncrypted)
    for speaksHTTP2 in [true, false] {
      var options = TLSServer.Options(try ground.leaf(key: key))
      options.speaksHTTP2 = speaksHTTP2
      let server = try TLSServer(options)
      let result = try bench.result(of: bench.request(try server.url()))
      #expect(try result.outcome.get().status == 200)
      #expect(result.figures.version == (speaksHTTP2 ? .http2 : .http11))
      options.speaksHTTP2 = false
      options.script = { _ in .raw("HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nhello") }
      let pretender = try TLSServer(options)
      #expect(try bench.failure(of: bench.request(try pretender.url())).code == .badResponse)
    }
  }

  @Test("An untrusted origin behind a proxy is refused", arguments: [false, true])
  func strangeOrigin(isEncrypted: Bool) throws {
    let proxy = try proxy(isEncrypted: isEncrypted)
    let bench = try bench(proxy, isEncrypted: isEncrypted)
    let strange = try TLSServer(TLSServer.Options(try ground.leaf(by: ground.stranger)))
    let failure = try bench.failure(of: bench.request(try strange.url()))
    #expect(failure.code == .certificate, "\(failure.message)")
    #expect(strange.record.bytes == 0)
  }
}
