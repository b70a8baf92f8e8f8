import PrefetchCore
import PrefetchCrypto

/// An origin with a list and its items, and a shared store; they count requests and send no bytes.
final class FleetServers {
  enum Host: Hashable {
    case origin
    case tier
  }

  struct Page {
    var digest: ContentDigest
    var size: Int64
    var headers: HeaderBlock
    var tag: String
  }

  static let tierHost = "tier.example"
  static let base = "https://origin.example/"
  static let list = base + "list.json"

  let plan: FleetPlan
  private(set) var pages: [String: Page] = [:]
  private(set) var origin = FleetFigures()
  private(set) var tier = FleetFigures()
  /// Bodies by their names below the tier's URL; a record is its index in ``said``.
  private var bodies: [String: (digest: ContentDigest, size: Int64)] = [:]
  private var records: [String: [UInt8]] = [:]
  private var said: [OriginResponse] = []
  private var lastBody = 0

  init(_ plan: FleetPlan) {
    self.plan = plan
    for item in 0..<plan.itemCount { change(item, night: 0) }
    changeList(night: 0)
  }

  // MARK: What the origin has

  static func url(_ item: Int) -> String {
    "\(base)items/\(item)"
  }

  /// The next night: some items have changed, and whatever was counted is forgotten.
  func advance(to night: Int) {
    for item in 0..<plan.changedCount {
      change(item * (plan.itemCount / max(1, plan.changedCount)), night: night)
    }
    // A list of names alone does not change from night to night.
    if plan.items == .pinned { changeList(night: night) }
    (origin, tier) = (FleetFigures(), FleetFigures())
  }

  private func change(_ item: Int, night: Int) {
    pages[Self.url(item)] = page("item \(item)", night, size: plan.bodySize)
  }

  private func changeList(night: Int) {
    pages[Self.list] = page("list", night, size: plan.lineSize * Int64(plan.itemCount))
  }

  private func page(_ name: String, _ night: Int, size: Int64) -> Page {
    let tag = "\"\(name) of \(night)\""
    var fields = [HeaderField("ETag", tag), HeaderField("Content-Type", "application/x-any")]
    if plan.items == .lasting { fields.append(HeaderField("Cache-Control", "max-age=3600")) }
    let digest = SHA256.digest(of: Array(tag.utf8))
    return Page(digest: digest, size: size, headers: HeaderBlock(fields), tag: tag)
  }

  /// Manifest that lists all items.
  var manifest: Manifest {
    var entries: [ManifestEntry] = []
    for item in 0..<plan.itemCount {
      guard let url = try? WebURL(Self.url(item)), let page = pages[url.string] else { continue }
      var entry = ManifestEntry(url: url)
      if plan.items == .pinned {
        entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: page.digest.bytes)]
        entry.size = page.size
      }
      entries.append(entry)
    }
    return Manifest(entries: EntryTable(entries))
  }

  // MARK: Answers

  struct Response {
    var response: TransferResponse
    var share: FleetFigures.Share
    /// Time until the response is complete, in milliseconds.
    var delay: Int64 = 0

    init(_ response: TransferResponse, _ kind: FleetFigures.Share.Kind, bytes: Int64 = 0) {
      self.response = response
      share = FleetFigures.Share(kind: kind, bytes: bytes)
    }

    /// Without a body.
    init(_ status: Int) {
      self.init(TransferResponse(status: status, headers: HeaderBlock(), body: nil), .bare)
    }
  }

  static func host(of request: TransferRequest) -> Host {
    request.url.host == tierHost ? .tier : .origin
  }

  func count(_ share: FleetFigures.Share, of host: Host, at time: Int64, times count: Int) {
    switch host {
    case .origin: origin.add(share, at: time, times: count)
    case .tier: tier.add(share, at: time, times: count)
    }
  }

  /// The origin is 40 ms away and sends 10 MB a second to each connection, the tier 4 ms and ten
  /// times as much.
  func response(_ request: TransferRequest) -> Response {
    switch Self.host(of: request) {
    case .origin:
      var response = originResponse(request)
      response.delay = 40 + response.share.bytes / 10_000
      return response
    case .tier:
      var response = tierResponse(request)
      response.delay = 4 + response.share.bytes / 100_000
      return response
    }
  }

  private func originResponse(_ request: TransferRequest) -> Response {
    guard let page = pages[request.url.string] else { return Response(404) }
    if request.headers.contains(where: { $0.name == "If-None-Match" && $0.value == page.tag }) {
      return Response(
        TransferResponse(status: 304, headers: page.headers, body: nil),
        .confirmed
      )
    }
    return whole(page.digest, page.size, page.headers)
  }

  private func tierResponse(_ request: TransferRequest) -> Response {
    let name = request.url.path
    switch request.method {
    case .put(let body):
      let response = TransferResponse(status: 201, headers: HeaderBlock(), body: nil)
      return Response(response, .written, bytes: body.size)
    case .get:
      if let body = bodies[name] { return whole(body.digest, body.size) }
      guard let record = records[name] else { return Response(404) }
      return whole(SHA256.digest(of: record), Int64(record.count), prefix: record)
    case .head, .post:
      return Response(bodies[name] == nil ? 404 : 200)
    }
  }

  private func whole(
    _ digest: ContentDigest,
    _ size: Int64,
    _ headers: HeaderBlock = HeaderBlock(),
    prefix: [UInt8] = []
  ) -> Response {
    lastBody += 1
    let body = StagedBody(id: lastBody, digest: digest, size: size, prefix: prefix)
    let response = TransferResponse(status: 200, headers: headers, body: body)
    return Response(response, .whole, bytes: size)
  }

  // MARK: What the tier has

  /// Completes an upload, which other machines find from now on.
  func finish(_ request: TransferRequest) {
    guard case .put(let body) = request.method else { return }
    switch body {
    case .file(let digest, let size):
      bodies[request.url.path] = ContentDigest(digest).map { (digest: $0, size: size) }
    case .bytes(let record): records[request.url.path] = record
    }
  }

  /// Encodes a record with the size of a real one.
  func encode(_ response: OriginResponse) -> [UInt8] {
    said.append(response)
    let number = String(said.count - 1)
    return Array(number.utf8) + [UInt8](repeating: 0x20, count: 400 - number.utf8.count)
  }

  func decode(_ bytes: [UInt8], _ url: String) -> OriginResponse? {
    let text = String(decoding: bytes.prefix { $0 != 0x20 }, as: UTF8.self)
    guard let number = Int(text), said.indices.contains(number) else { return nil }
    return said[number].url == url ? said[number] : nil
  }

  /// Returns whether the tier's remaining responses tonight are all determined.
  func isSettled(since night: Instant) -> Bool {
    guard plan.tier != .none else { return true }
    let kept = Set(bodies.values.map(\.digest))
    let last = Dictionary(
      records.values.compactMap { decode($0) }.map { ($0.url, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    let lasts = plan.tier == .trusted && plan.items == .lasting
    return pages.allSatisfy { url, page in
      guard kept.contains(page.digest) else { return false }
      // Items pinned by digest have no record.
      if plan.items == .pinned, url != Self.list { return true }
      guard let response = last[url], response.digest == page.digest else { return false }
      return !lasts || night <= response.respondedAt
    }
  }

  private func decode(_ bytes: [UInt8]) -> OriginResponse? {
    let text = String(decoding: bytes.prefix { $0 != 0x20 }, as: UTF8.self)
    return Int(text).map { said[$0] }
  }
}
