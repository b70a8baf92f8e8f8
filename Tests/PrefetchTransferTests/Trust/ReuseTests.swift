import PrefetchTestSupport
import PrefetchTransfer
import Testing

@testable import PrefetchCore

/// Reuse of connections and sessions between rules, which libcurl alone would permit.
@Suite("Reuse of connections under other rules", .timeLimit(.minutes(10)))
struct ReuseTests {
  private let ground: TrustGround
  private let server: TLSServer
  private let bench: TransferBench
  private let key: TestKey

  init() throws {
    ground = try TrustGround.shared.get()
    let leaf = try ground.leaf()
    key = leaf.key
    server = try TLSServer(TLSServer.Options(leaf))
    let authorities = ground.authorities
    bench = try TransferBench { settings in
      settings.caFile = authorities
      settings.workers = 1
    }
  }

  private func pinning(_ digest: ContentDigest) -> Shared<ConnectionRules> {
    var rules = ConnectionRules()
    rules.pins = [PinRule(leaf: [digest], authority: nil, entries: ["tls.pins.here"])]
    return Shared(rules)
  }

  private func send(_ rules: Shared<ConnectionRules>?) throws -> TransferResult {
    try bench.result(of: bench.request(try server.url()) { $0.connection = rules })
  }

  @Test("A kept connection is not used under another policy")
  func keptConnection() throws {
    #expect(try send(nil).outcome.get().status == 200)
    #expect(try send(nil).figures.didReuseConnection)
    let before = server.record
    guard case .failure(let failure) = try send(pinning(ground.rsa.digest)).outcome else {
      Issue.record("the connection was used again")
      return
    }
    #expect(failure.code == .pinMismatch)
    #expect(server.record.bytes == before.bytes)
    #expect(server.record.connections == before.connections + 1)
    // A refused connection must not affect a permitted one.
    #expect(try send(nil).outcome.get().status == 200)
    #expect(server.record.bytes > before.bytes)
  }

  @Test("A pinned connection is kept for requests with the same pins, whatever their source")
  func samePolicy() throws {
    #expect(try send(pinning(key.digest)).outcome.get().status == 200)
    let second = try send(pinning(key.digest))
    #expect(try second.outcome.get().status == 200)
    #expect(second.figures.didReuseConnection)
    #expect(server.record.connections == 1)
  }

  @Test("No TLS session is resumed, since a resumption shows no certificate")
  func sessions() throws {
    for round in 0..<4 {
      // Each rule has its own pool, so that each request makes a connection.
      var rules = ConnectionRules()
      rules.pins = [PinRule(leaf: [key.digest], authority: nil, entries: ["\(round)"])]
      #expect(try send(Shared(rules)).outcome.get().status == 200)
    }
    #expect(try send(nil).outcome.get().status == 200)
    #expect(server.record.handshakes == 5)
    #expect(server.record.resumptions == 0)
    #expect(throws: Failure.self) { try send(pinning(ground.rsa.digest)).outcome.get() }
    #expect(server.record.requests == 5)
  }

  @Test("No session is resumed over TLS 1.2 either")
  func olderSessions() throws {
    var options = TLSServer.Options(try ground.leaf(key: key))
    options.versions = .tls12 ... .tls12
    options.conduct = .untilClose(saysSo: true)
    let server = try TLSServer(options)
    for _ in 0..<3 {
      let request = bench.request(try server.url()) { $0.expectedSize = 5 }
      #expect(try bench.response(to: request).status == 200)
    }
    #expect(server.record.handshakes == 3)
    #expect(server.record.resumptions == 0)
    let request = bench.request(try server.url()) { $0.connection = pinning(ground.rsa.digest) }
    #expect(try bench.failure(of: request).code == .pinMismatch)
    #expect(server.record.requests == 3)
  }

  @Test("A pin that differs in the case of one letter is another pin")
  func letterCase() throws {
    let text = Base64.encode(key.digest.bytes)
    let position = try #require(text.firstIndex { $0.isLetter })
    let letter =
      text[position].isLowercase ? text[position].uppercased() : text[position].lowercased()
    let swapped = text.replacingCharacter(at: position, with: letter)
    let other = try #require(Base64.decode(swapped).flatMap { ContentDigest(bytes: $0) })
    try #require(other != key.digest)
    #expect(try send(pinning(key.digest)).outcome.get().status == 200)
    let before = server.record.bytes
    guard case .failure(let failure) = try send(pinning(other)).outcome else {
      Issue.record("the pin was taken for the same")
      return
    }
    #expect(failure.code == .pinMismatch)
    #expect(server.record.bytes == before)
  }

  @Test("A mismatch under `report_only` is reported for every transfer, also on kept connections")
  func reports() throws {
    var rules = ConnectionRules()
    var pin = PinRule(leaf: [ground.rsa.digest], authority: nil, entries: ["tls.pins.here"])
    pin.onlyReports = true
    rules.pins = [pin]
    let shared = Shared(rules)
    for _ in 0..<3 {
      #expect(try send(shared).figures.unexpectedKey == key.digest)
    }
    #expect(server.record.connections == 1)
    #expect(try send(nil).figures.unexpectedKey == nil)
  }

  @Test("Rules equal to the settings share the settings' connections")
  func plainRules() throws {
    #expect(try send(nil).outcome.get().status == 200)
    #expect(try send(Shared(ConnectionRules())).figures.didReuseConnection)
    #expect(server.record.connections == 1)
  }

  @Test("A client certificate is sent only for requests that are configured for it")
  func identities() throws {
    var options = TLSServer.Options(try ground.leaf())
    options.clientAuthority = ground.clientRoot
    let server = try TLSServer(options)
    var rules = ConnectionRules()
    rules.client = ground.clientFiles()
    let standard = bench.request(try server.url())
    #expect(try bench.response(to: standard).status == 200)
    #expect(!server.record.sawClientCertificate)
    let known = bench.request(try server.url()) { $0.connection = Shared(rules) }
    #expect(try bench.response(to: known).status == 200)
    #expect(server.record.sawClientCertificate)
    #expect(server.record.connections == 2)
  }
}

extension String {
  fileprivate func replacingCharacter(at position: Index, with text: String) -> String {
    self[..<position] + text + self[index(after: position)...]
  }
}
