import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

/// Contract of a second tier, checked on a real server and on the one in memory.
@Suite("Every second tier", .timeLimit(.minutes(10)))
struct TierContractTests {
  enum Kind: CaseIterable {
    case wire
    case memory
  }

  private let store = MemoryTier()
  private let staging = MemoryStaging()
  private let clock = RunningClock()
  private let server: LoopbackServer
  private let folder: TemporaryDirectory

  init() throws {
    let store = self.store
    server = try LoopbackServer { store.respond(to: $0) }
    folder = try TemporaryDirectory()
  }

  private func transport(_ kind: Kind) throws -> TieredTransport {
    let inner: any Transport =
      switch kind {
      case .wire:
        try CurlTransport(
          settings: TransportSettings(userAgent: "test"),
          staging: staging,
          clock: clock
        )
      case .memory: FakeTransport(staging: staging) { [store] in Self.response($0, store) }
      }
    var settings = TierSettings()
    settings.url = try server.url("/t")
    settings.mode = .readWrite
    return TieredTransport(
      inner,
      staging: staging,
      clock: clock,
      terms: TierTerms(
        settings: settings,
        base: try server.url("/t"),
        addTerms: { _, _ in },
        encode: { Array("said of \($0.url)".utf8) },
        decode: { _, _ in nil },
        path: { [folder] in folder.appending($0.hexadecimal) }
      )
    )
  }

  private static func response(
    _ request: TransferRequest,
    _ store: MemoryTier
  ) -> FakeTransport.Reply {
    let (word, body): (String, [UInt8]) =
      switch request.method {
      case .put(.bytes(let bytes)): ("PUT", bytes)
      // Every path of these tests ends with the digest of its body.
      case .put(.file): ("PUT", Self.bytes)
      case .head: ("HEAD", [])
      case .get, .post: ("GET", [])
      }
    let response = store.respond(to: word, request.url.path, body)
    let length = HeaderField("Content-Length", "\(response.body.count)")
    return .response(status: response.status, headers: [length], body: response.body)
  }

  private static let bytes = [UInt8](repeating: 7, count: 40_000)
  private static let digest = SHA256.digest(of: bytes)

  private func offer(_ transport: TieredTransport) throws {
    folder.write(String(decoding: Self.bytes, as: UTF8.self), to: Self.digest.hexadecimal)
    let response = OriginResponse(
      url: "https://origin.example/a",
      digest: Self.digest,
      size: Int64(Self.bytes.count),
      headers: HeaderBlock(),
      respondedAt: clock.now().wall
    )
    transport.offer([response])
    let limit = clock.now().uptime + .seconds(30)
    while transport.isWriting, clock.now().uptime < limit { _ = transport.wait(until: limit) }
  }

  private func result(
    _ transport: TieredTransport,
    _ method: TransferRequest.Method = .get
  ) throws -> TransferResult {
    // The origin is the same server, which has nothing under this name.
    var request = TransferRequest(id: TransferID(1), method: method, url: try server.url("/a"))
    request.tierRequest = TierRequest(digest: Self.digest)
    transport.start(request)
    let limit = clock.now().uptime + .seconds(30)
    while clock.now().uptime < limit {
      for case .finished(request.id, let result) in transport.wait(until: limit) { return result }
    }
    throw Failure(.timeout, "the transfer did not end")
  }

  @Test(
    "A tier returns what it got and reports everything else as missing",
    arguments: Kind.allCases
  )
  func roundTrip(kind: Kind) throws {
    let transport = try transport(kind)
    #expect(try result(transport).outcome.get().status == 404)
    #expect(transport.figures.misses == 1)
    try offer(transport)
    #expect(transport.figures.written == 1 && transport.figures.troubles == 0)
    #expect(store.files.count == 2)
    let response = try result(transport).outcome.get()
    #expect(response.status == 200 && response.tierRespondedAt != nil)
    #expect(staging.bytes(of: try #require(response.body)) == Self.bytes)
    let look = try result(transport, .head).outcome.get()
    #expect(look.headers["Content-Length"] == "40000" && look.body == nil)
    #expect(look.tierRespondedAt != nil)
  }

  @Test("A body that the tier has is not sent again", arguments: Kind.allCases)
  func once(kind: Kind) throws {
    try offer(transport(kind))
    let second = try transport(kind)
    try offer(second)
    #expect(second.figures.written == 0 && second.figures.troubles == 0)
  }

  @Test("A spoilt body of the tier is ignored", arguments: Kind.allCases)
  func spoilt(kind: Kind) throws {
    store.files["/t/cas/\(Self.digest.hexadecimal)"] = Array("spoilt".utf8)
    let transport = try transport(kind)
    #expect(try result(transport).outcome.get().status == 404)
    #expect(transport.figures.troubles == 1 && transport.figures.hits == 0)
    #expect(staging.bodyCount == 0)
  }
}
