import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer

/// A transport with a simulated tier and origin in memory.
final class TierBench {
  typealias Reply = FakeTransport.Reply

  static let base = "http://tier.example/t"

  let staging = MemoryStaging()
  let clock = FakeClock()
  let store = MemoryTier()
  let site = Site()
  /// Returns a response in place of the correct one; nil responds correctly.
  var conduct: (TransferRequest) -> Reply? = { _ in nil }
  private(set) var fake: FakeTransport?
  private(set) var transport: TieredTransport?
  /// Bytes of bodies stored on this machine, by their paths.
  var bodies: [String: [UInt8]] = [:]
  /// Records by their encoded text, since another module defines the real encoding.
  private var records: [String: OriginResponse] = [:]
  private var lastNumber = 0

  init(_ adjust: (inout TierSettings) -> Void = { _ in }) throws {
    var settings = TierSettings()
    settings.url = try WebURL(Self.base)
    settings.isTrusted = true
    adjust(&settings)
    let fake = FakeTransport(staging: staging) { [unowned self] in response($0) }
    self.fake = fake
    transport = TieredTransport(
      fake,
      staging: staging,
      clock: clock,
      terms: TierTerms(
        settings: settings,
        base: try WebURL(Self.base),
        addTerms: { _, _ in },
        encode: { [unowned self] in encode($0) },
        decode: { [unowned self] in decode($0, $1) },
        path: { "object \($0.hexadecimal)" }
      )
    )
  }

  private func encode(_ response: OriginResponse) -> [UInt8] {
    let name = "record \(records.count)"
    records[name] = response
    return Array(name.utf8)
  }

  private func decode(_ bytes: [UInt8], _ url: String) -> OriginResponse? {
    let response = records[String(decoding: bytes, as: UTF8.self)]
    return response?.url == url ? response : nil
  }

  // MARK: Servers

  static func isAtTier(_ request: TransferRequest) -> Bool {
    request.url.string.hasPrefix(base)
  }

  private func response(_ request: TransferRequest) -> Reply {
    if let response = conduct(request) { return response }
    return Self.isAtTier(request) ? tierResponse(request) : originResponse(request)
  }

  func tierResponse(_ request: TransferRequest) -> Reply {
    let body: [UInt8] =
      switch request.method {
      case .put(.bytes(let bytes)): bytes
      case .put(.file(let path, _)): bodies[path] ?? []
      case .get, .head, .post: []
      }
    let word =
      switch request.method {
      case .get: "GET"
      case .head: "HEAD"
      case .put: "PUT"
      case .post: "POST"
      }
    let response = store.respond(to: word, request.url.path, body)
    let length = HeaderField("Content-Length", "\(response.body.count)")
    return .response(status: response.status, headers: [length], body: response.body)
  }

  func originResponse(_ request: TransferRequest) -> Reply {
    let loopback = LoopbackRequest(
      method: request.method == .head ? "HEAD" : "GET",
      target: request.url.path,
      headers: HeaderBlock(request.headers)
    )
    let page = site.page(for: loopback)
    return .response(status: page.status, headers: page.headers, body: page.body)
  }

  // MARK: What the tier has

  func url(_ path: String) -> String { "https://origin.example\(path)" }

  func path(of digest: ContentDigest) -> String { "/t/cas/\(digest.hexadecimal)" }

  func path(ofRecord url: String) -> String {
    "/t/ac/\(SHA256.digest(of: "prefetch/1\n\(url)").hexadecimal)"
  }

  func put(_ text: String) -> ContentDigest {
    let digest = SHA256.digest(of: Array(text.utf8))
    store.files[path(of: digest)] = Array(text.utf8)
    return digest
  }

  /// Returns the origin's record of a page with the body it had then.
  func record(
    _ path: String,
    _ text: String,
    age: Duration = .zero,
    headers: [HeaderField] = [HeaderField("Cache-Control", "max-age=600")]
  ) -> OriginResponse {
    let page = Site.Page(text, headers: headers)
    return OriginResponse(
      url: url(path),
      digest: SHA256.digest(of: page.body),
      size: Int64(page.body.count),
      headers: HeaderBlock(page.headers + [HeaderField("ETag", page.entityTag ?? "")]),
      respondedAt: clock.now().wall + (.zero - age)
    )
  }

  func put(_ response: OriginResponse) {
    store.files[path(ofRecord: response.url)] = encode(response)
  }

  /// The last record that was written of a URL.
  func stored(_ url: String) -> OriginResponse? {
    store.files[path(ofRecord: url)].flatMap { decode($0, url) }
  }

  // MARK: Requests

  func request(_ path: String, _ headers: [HeaderField] = []) throws -> TransferRequest {
    lastNumber += 1
    return TransferRequest(
      id: TransferID(lastNumber),
      url: try WebURL(url(path)),
      headers: headers
    )
  }

  /// Returns a request that accepts records of other machines.
  func lookup(_ path: String, _ headers: [HeaderField] = []) throws -> TransferRequest {
    var request = try request(path, headers)
    request.tierRequest = TierRequest(granted: [])
    return request
  }

  /// Returns a request for a body from either server.
  func lookup(_ path: String, _ digest: ContentDigest) throws -> TransferRequest {
    var request = try request(path)
    request.tierRequest = TierRequest(digest: digest)
    return request
  }

  /// Returns all ends until nothing is in flight.
  func ends() -> [TransferID: [TransferResult]] {
    var ends: [TransferID: [TransferResult]] = [:]
    repeat {
      for case .finished(let id, let result) in transport?.wait(until: .zero) ?? [] {
        ends[id, default: []].append(result)
      }
    } while fake?.isBusy == true
    for case .finished(let id, let result) in transport?.wait(until: .zero) ?? [] {
      ends[id, default: []].append(result)
    }
    return ends
  }

  /// Returns the only end of a transfer.
  func end(of request: TransferRequest) throws -> TransferResult {
    transport?.start(request)
    let ends = ends()
    guard let end = ends[request.id], end.count == 1, ends.count == 1 else {
      throw Failure(.internal, "it ended \(ends[request.id]?.count ?? 0) times")
    }
    return end[0]
  }

  func response(to request: TransferRequest) throws -> TransferResponse {
    try end(of: request).outcome.get()
  }

  func text(of response: TransferResponse) -> String? {
    response.body.map { String(decoding: staging.bytes(of: $0), as: UTF8.self) }
  }

  /// Returns requests since the last call: `record`, `body`, `put` or `look` at the tier, else the
  /// path.
  func drainRequests() -> [String] {
    let requests = fake?.requests ?? []
    defer { seen = requests.count }
    return requests.dropFirst(seen).map { request in
      guard Self.isAtTier(request) else { return request.url.path }
      let isRecord = request.url.path.contains("/ac/")
      return switch request.method {
      case .get: isRecord ? "record" : "body"
      case .head: "look"
      case .put: isRecord ? "put record" : "put body"
      case .post: "post"
      }
    }
  }

  private var seen = 0
}
