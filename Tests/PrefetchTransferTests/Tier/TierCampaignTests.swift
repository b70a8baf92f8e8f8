import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

/// Transfers that begin, are called back and answered in any order, by a tier that behaves or not.
@Suite("A misbehaving second tier", .timeLimit(.minutes(10)))
struct TierCampaignTests {
  @Test("Each transfer ends once, and its bytes have the right digest or come from the origin")
  func campaign() throws {
    let seeds = Campaign.seed.map { $0...$0 } ?? 0...Campaign.seeds(usually: 600)
    for seed in seeds {
      let play = try Play(seed)
      try play.run()
      #expect(play.problems == [], "PREFETCH_SEED=\(seed)")
    }
  }
}

/// A random sequence of operations on a tier.
private final class Play {
  private let bench: TierBench
  private var random: SeededRandom
  private var open: [TransferID: TransferRequest] = [:]
  /// Contents of each page according to correct records.
  private var known: [String: Set<String>] = [:]
  private let isTrusted: Bool
  private(set) var problems: [String] = []

  private static let pages = 6

  init(_ seed: Int) throws {
    var random = SeededRandom(UInt64(seed))
    let (isTrusted, isRequired) = (random.happens(70), random.happens(20))
    let mode: TierSettings.Mode = random.happens(50) ? .readWrite : .read
    self.isTrusted = isTrusted
    bench = try TierBench { settings in
      settings.isTrusted = isTrusted
      settings.isRequired = isRequired
      settings.mode = mode
    }
    self.random = random
    for number in 0..<Self.pages {
      // The last page does not exist.
      if number < Self.pages - 1 { bench.site["/\(number)"] = Site.Page("page \(number)") }
      let text = self.random.happens(70) ? "page \(number)" : "earlier page \(number)"
      if self.random.happens(70) { _ = bench.put(text) }
      guard self.random.happens(70) else { continue }
      var response = bench.record(
        "/\(number)",
        text,
        age: .seconds(self.random.happens(60) ? 0 : 700)
      )
      if self.random.happens(20) {
        response.redirects = [
          .init(
            status: 302,
            target: bench.url("/\((number + 1) % Self.pages)"),
            freshness: .declared(until: bench.clock.now().wall + .seconds(60))
          )
        ]
        known[bench.url("/\((number + 1) % Self.pages)"), default: []].insert(text)
      }
      bench.put(response)
      known[response.url, default: []].insert(text)
    }
  }

  func run() throws {
    bench.conduct = { [unowned self] in conduct($0) }
    bench.fake?.moment = { [unowned self] in
      random.happens(50) ? .now : random.happens(40) ? .untold : .later
    }
    bench.fake?.order = { [unowned self] in $0.shuffled(using: &random) }
    for _ in 0..<Int.random(in: 10...60, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4: try begin()
      case 4: if let id = open.keys.sorted().randomElement(using: &random) { cancel(id) }
      case 5: offer()
      default: wait()
      }
    }
    var rounds = 0
    while rounds < 1_000, !open.isEmpty || bench.fake?.isBusy == true || isWriting {
      wait()
      rounds += 1
    }
    if !open.isEmpty { problems.append("\(open.count) did not end") }
    if isWriting { problems.append("it writes for ever") }
    if bench.staging.bodyCount != 0 {
      problems.append("\(bench.staging.bodyCount) bodies are left")
    }
  }

  private var isWriting: Bool { bench.transport?.isWriting == true }

  // MARK: What is done

  private func begin() throws {
    let path = "/\(Int.random(in: 0..<Self.pages, using: &random))"
    var request = try bench.request(path)
    if random.happens(30) {
      let page =
        random.happens(50) ? bench.site[path] : Site.Page("earlier page \(path.dropFirst())")
      request.headers = [HeaderField("If-None-Match", page?.entityTag ?? "\"none\"")]
    }
    if random.happens(10) { request.method = .head }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: break
    case 1..<4:
      let digest = SHA256.digest(of: Array("page \(path.dropFirst())".utf8))
      request.tierRequest = TierRequest(digest: digest, granted: [])
    case 4: request.tierRequest = TierRequest(granted: nil)
    case 5:
      request.tierRequest = TierRequest(granted: [])
      request.tierRequest?.isFirstHop = false
    default: request.tierRequest = TierRequest(granted: [])
    }
    open[request.id] = request
    bench.transport?.start(request)
  }

  private func cancel(_ id: TransferID) {
    bench.transport?.cancel(id)
  }

  private func offer() {
    let number = Int.random(in: 0..<Self.pages, using: &random)
    let text = "page \(number)"
    let response = bench.record("/\(number)", text)
    bench.bodies["object \(response.digest.hexadecimal)"] = Array(text.utf8)
    known[response.url, default: []].insert(text)
    bench.transport?.offer([response])
  }

  private func conduct(_ request: TransferRequest) -> TierBench.Reply? {
    if bench.fake?.isInFlight(request.id) == true {
      problems.append("\(request.id.number) is in flight twice")
    }
    if random.happens(5) { return .notSent }
    if TierBench.isAtTier(request) {
      guard random.happens(40) else { return nil }
      return TieredTransportTests.Lie.allCases.randomElement(using: &random)?.reply
    }
    guard random.happens(10) else { return nil }
    return random.happens(50)
      ? .failure(Failure(.reset, "reset", isTransient: true))
      : .response(status: 503, headers: [], body: [])
  }

  // MARK: What comes of it

  private func wait() {
    for event in bench.transport?.wait(until: .zero) ?? [] {
      guard case .finished(let id, let result) = event else { continue }
      guard let request = open.removeValue(forKey: id) else {
        problems.append("\(id.number) ended once more")
        continue
      }
      if case .success(let response) = result.outcome { judge(response, to: request) }
    }
  }

  private func judge(_ response: TransferResponse, to request: TransferRequest) {
    let url = request.url.string
    let text = bench.text(of: response)
    if let body = response.body { bench.staging.discard(body) }
    let page = bench.site[request.url.path]
    let tag = request.headers.first?.value
    let isFromTier = response.tierRespondedAt != nil
    if isFromTier {
      let digest = request.tierRequest?.digest
      guard digest != nil || isTrusted && request.tierRequest?.granted != nil else {
        return problems.append("\(url) was reported by a source that may not report it")
      }
      switch response.status {
      case 304:
        let isKnown = known[url, default: []].contains { Site.Page($0).entityTag == tag }
        if !isKnown { problems.append("\(url) was confirmed by no source") }
      case 302: break
      default:
        guard request.method == .get else { return }
        let isRight =
          digest.map { body in response.body?.digest == body }
          ?? (text.map(known[url, default: []].contains) == true)
        if !isRight { problems.append("\(url) was reported as \(text ?? "nothing")") }
      }
      return
    }
    switch response.status {
    case 200:
      if request.method == .get, text != page.map({ String(decoding: $0.body, as: UTF8.self) }) {
        problems.append("\(url) came from its origin as \(text ?? "nothing")")
      }
    case 304:
      if tag == nil || tag != page?.entityTag {
        problems.append("\(url) is not \(tag ?? "asked so")")
      }
    default: break
    }
  }
}
