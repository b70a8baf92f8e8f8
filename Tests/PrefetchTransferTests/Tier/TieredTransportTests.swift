import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("A transport that asks a second tier first")
struct TieredTransportTests {
  private let bench: TierBench

  init() throws {
    bench = try TierBench()
    bench.site["/a"] = Site.Page("body of a", headers: [HeaderField("Cache-Control", "max-age=9")])
  }

  private var figures: TierFigures { bench.transport?.figures ?? TierFigures(host: "") }

  // MARK: What it has

  @Test("A body with a digest comes from the tier, or from the origin when missing there")
  func digests() throws {
    let digest = bench.put("body of a")
    let response = try bench.response(to: bench.lookup("/a", digest))
    #expect(response.status == 200 && bench.text(of: response) == "body of a")
    #expect(response.tierRespondedAt == bench.clock.now().wall && response.headers == HeaderBlock())
    #expect(bench.drainRequests() == ["body"])
    #expect(figures.hits == 1 && figures.hitBytes == 9 && figures.originResponses == 0)
    bench.store.files = [:]
    let other = try bench.response(to: bench.lookup("/a", digest))
    #expect(other.tierRespondedAt == nil && bench.text(of: other) == "body of a")
    #expect(bench.drainRequests() == ["body", "/a"])
    #expect(figures.misses == 1 && figures.troubles == 0)
  }

  @Test("A record of the origin is served with its age while it is fresh")
  func records() throws {
    bench.put(bench.record("/a", "body of a", age: .seconds(60)))
    _ = bench.put("body of a")
    let response = try bench.response(to: bench.lookup("/a"))
    #expect(response.status == 200 && bench.text(of: response) == "body of a")
    #expect(response.headers["Age"] == "60")
    #expect(response.tierRespondedAt == bench.clock.now().wall + .seconds(-60))
    #expect(bench.drainRequests() == ["record", "body"])
    let unknown = try bench.response(to: bench.lookup("/gone"))
    #expect(unknown.status == 404 && unknown.tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["record", "/gone"])
  }

  @Test("A record confirms a stored body without a transfer, or supplies another one")
  func confirmations() throws {
    let origin = bench.record("/a", "body of a", age: .seconds(5))
    bench.put(origin)
    let tag = try #require(origin.validators.entityTag)
    let same = try bench.lookup("/a", [HeaderField("If-None-Match", tag)])
    let response = try bench.response(to: same)
    #expect(response.status == 304 && response.headers["Age"] == "5" && response.body == nil)
    #expect(response.tierRespondedAt == origin.respondedAt)
    #expect(bench.drainRequests() == ["record"])
    // A 304 is useless without a stored body.
    let other = try bench.lookup("/a", [HeaderField("If-None-Match", "\"other\"")])
    let whole = try bench.response(to: other)
    #expect(whole.status == 200 && whole.tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["record", "body", "/a"])
    _ = bench.put("body of a")
    let lent = try bench.response(
      to: bench.lookup("/a", [HeaderField("If-None-Match", "\"other\"")])
    )
    #expect(lent.status == 200 && lent.tierRespondedAt == origin.respondedAt)
  }

  @Test("A request that needs the origin's own response does not ask the tier")
  func ownWord() throws {
    bench.put(bench.record("/a", "body of a"))
    var request = try bench.request("/a")
    #expect(try bench.response(to: request).tierRespondedAt == nil)
    request = try bench.request("/a")
    request.tierRequest = TierRequest(granted: nil)
    #expect(try bench.response(to: request).tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["/a", "/a"])
    let doubted = try TierBench { $0.isTrusted = false }
    doubted.put(doubted.record("/a", "body of a"))
    #expect(try doubted.response(to: doubted.lookup("/a")).status == 404)
    #expect(doubted.drainRequests() == ["/a"])
  }

  // MARK: What has become stale

  @Test("A stale record is a condition for the origin, and its body serves after a 304")
  func stale() throws {
    bench.put(bench.record("/a", "body of a", age: .seconds(700)))
    _ = bench.put("body of a")
    let response = try bench.response(to: bench.lookup("/a"))
    #expect(response.status == 200 && bench.text(of: response) == "body of a")
    #expect(response.headers["Age"] == "0", "the origin was asked now")
    #expect(response.tierRespondedAt == bench.clock.now().wall)
    #expect(bench.drainRequests() == ["record", "/a", "body"])
    #expect(bench.site.requests.last?.headers["If-None-Match"] == bench.site["/a"]?.entityTag)
    // The newer page comes from the origin itself.
    bench.site["/a"] = Site.Page("newer body of a")
    let newer = try bench.response(to: bench.lookup("/a"))
    #expect(bench.text(of: newer) == "newer body of a" && newer.tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["record", "/a"])
  }

  @Test("A confirmed record without its body is requested as a whole")
  func staleWithoutBody() throws {
    bench.put(bench.record("/a", "body of a", age: .seconds(700)))
    let response = try bench.response(to: bench.lookup("/a"))
    #expect(response.status == 200 && response.tierRespondedAt == nil)
    #expect(bench.text(of: response) == "body of a")
    #expect(bench.drainRequests() == ["record", "/a", "body", "/a"])
    #expect(bench.site.requests.last?.headers["If-None-Match"] == nil)
  }

  @Test("A confirmation renews only a record of an equal request")
  func renewal() throws {
    let bench = try TierBench { $0.mode = .readWrite }
    bench.site["/a"] = Site.Page("body of a")
    let tag = try #require(bench.site["/a"]?.entityTag)
    let theirs = bench.record("/a", "an earlier body", age: .seconds(700))
    bench.put(theirs)
    // A confirmation need not repeat the tag.
    bench.conduct = { request in
      TierBench.isAtTier(request) || request.headers.isEmpty
        ? nil : .response(status: 304, headers: [], body: [])
    }
    let response = try bench.response(
      to: bench.lookup("/a", [HeaderField("If-None-Match", tag)])
    )
    #expect(response.status == 304 && response.tierRespondedAt == nil)
    #expect(bench.stored(bench.url("/a")) == theirs)
    let same = bench.record("/a", "body of a", age: .seconds(700))
    bench.put(same)
    _ = bench.put("body of a")
    let again = try bench.response(
      to: bench.lookup("/a", [HeaderField("If-None-Match", tag)])
    )
    #expect(again.status == 304 && again.tierRespondedAt == nil)
    #expect(bench.stored(bench.url("/a"))?.respondedAt == bench.clock.now().wall)
  }

  @Test("A response that became private is not renewed in the tier")
  func privately() throws {
    let bench = try TierBench { $0.mode = .readWrite }
    let origin = bench.record("/a", "body of a", age: .seconds(700))
    bench.put(origin)
    _ = bench.put("body of a")
    let secret = HeaderField("Cache-Control", "private, max-age=600")
    bench.conduct = { request in
      TierBench.isAtTier(request) ? nil : .response(status: 304, headers: [secret], body: [])
    }
    #expect(try bench.response(to: bench.lookup("/a")).status == 200)
    #expect(bench.stored(bench.url("/a")) == origin)
  }

  @Test("A record from the future, or one selected by headers, is not used")
  func unfit() throws {
    _ = bench.put("body of a")
    bench.put(bench.record("/a", "body of a", age: .seconds(-60)))
    #expect(try bench.response(to: bench.lookup("/a")).tierRespondedAt == bench.clock.now().wall)
    #expect(bench.drainRequests() == ["record", "/a", "body"])
    let fields = [HeaderField("Cache-Control", "max-age=600"), HeaderField("Vary", "Cookie")]
    bench.put(bench.record("/a", "body of a", headers: fields))
    #expect(try bench.response(to: bench.lookup("/a")).tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["record", "/a"])
  }

  // MARK: Lies and trouble

  /// Incorrect responses in place of a record or body.
  enum Lie: String, CaseIterable {
    case otherBytes, page, empty, tooLarge, withoutLength, truncated, redirect, busy, forbidden
    case silence, unreachable

    var reply: TierBench.Reply {
      switch self {
      case .otherBytes: .response(status: 200, headers: [], body: Array("record 9999".utf8))
      case .page: .response(status: 200, headers: [], body: Array("<html>log in</html>".utf8))
      case .empty: .response(status: 200, headers: [], body: [])
      case .tooLarge:
        .response(status: 200, headers: [], body: [UInt8](repeating: 65, count: 70_000))
      case .withoutLength: .failure(Failure(.badResponse, "it does not say how long it is"))
      case .truncated: .failure(Failure(.truncated, "it broke off", isTransient: true))
      case .redirect: .response(status: 302, headers: [HeaderField("Location", "/x")], body: [])
      case .busy: .response(status: 503, headers: [HeaderField("Retry-After", "9")], body: [])
      case .forbidden: .response(status: 403, headers: [], body: [])
      case .silence: .failure(Failure(.stalled, "nothing came", isTransient: true))
      case .unreachable: .failure(Failure(.connect, "refused", isTransient: true))
      }
    }
  }

  @Test(
    "A wrong body costs one request, and after some the tier is not used",
    arguments: Lie.allCases,
    [false, true]
  )
  func lies(lie: Lie, isOfRecord: Bool) throws {
    let digest = SHA256.digest(of: Array("body of a".utf8))
    bench.conduct = { TierBench.isAtTier($0) ? lie.reply : nil }
    for _ in 1...4 {
      let request = try isOfRecord ? bench.lookup("/a") : bench.lookup("/a", digest)
      let response = try bench.response(to: request)
      #expect(response.status == 200 && response.tierRespondedAt == nil)
      #expect(bench.text(of: response) == "body of a")
      if let body = response.body { bench.staging.discard(body) }
    }
    #expect(bench.staging.bodyCount == 0, "a wrong body is not kept")
    let requests = bench.drainRequests().filter { $0 == "record" || $0 == "body" }.count
    // Silence has used up all that the tier may cost.
    #expect(lie == .silence ? requests == 1 : requests == 3 || requests == 4)
    #expect(figures.troubles == Int64(requests) && figures.hits == 0)
    _ = try bench.response(to: bench.lookup("/a", digest))
    #expect(bench.drainRequests() == ["/a"])
  }

  @Test("Right records do not compensate for wrong bodies")
  func wrongBodies() throws {
    bench.put(bench.record("/a", "body of a"))
    bench.conduct = { request in
      request.url.path.contains("/cas/") ? Lie.page.reply : nil
    }
    for _ in 1...4 {
      #expect(try bench.response(to: bench.lookup("/a")).tierRespondedAt == nil)
    }
    _ = bench.drainRequests()
    #expect(try bench.response(to: bench.lookup("/a")).tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["/a"])
  }

  @Test("A record for another URL is ignored")
  func otherURL() throws {
    let other = bench.record("/b", "body of b")
    bench.put(other)
    _ = bench.put("body of b")
    bench.store.files[bench.path(ofRecord: bench.url("/a"))] =
      bench.store.files[bench.path(ofRecord: other.url)]
    let response = try bench.response(to: bench.lookup("/a"))
    #expect(bench.text(of: response) == "body of a" && figures.troubles == 1)
  }

  @Test("A request in flight when the tier is given up continues at the origin")
  func givenUp() throws {
    var isSilent = true
    bench.conduct = { request in
      guard TierBench.isAtTier(request) else { return nil }
      return isSilent ? .never : .failure(Failure(.connect, "refused", isTransient: true))
    }
    let waiting = try bench.lookup("/a")
    bench.transport?.start(waiting)
    isSilent = false
    let failing = try (1...3).map { _ in try bench.lookup("/a") }
    for request in failing { bench.transport?.start(request) }
    let ends = bench.ends()
    #expect(ends.count == 4 && ends.values.allSatisfy { $0.count == 1 })
    #expect(ends.values.allSatisfy { (try? $0[0].outcome.get().status) == 200 })
    #expect(bench.drainRequests().filter { $0 == "/a" }.count == 4)
  }

  @Test(
    "A failing required tier causes no request to the origin, and unsent ones are returned"
  )
  func required() throws {
    let bench = try TierBench { $0.isRequired = true }
    bench.site["/a"] = Site.Page("body of a")
    bench.conduct = { TierBench.isAtTier($0) ? .notSent : nil }
    #expect(try bench.end(of: bench.lookup("/a")).wasNotSent)
    bench.conduct = { request in
      TierBench.isAtTier(request) ? .failure(Failure(.connect, "refused")) : nil
    }
    for _ in 1...5 {
      let result = try bench.end(of: bench.lookup("/a"))
      #expect(result.failure?.message == "`cache.remote` is required: refused")
      #expect(result.figures.tierTrouble == .refusal)
    }
    // After several failures the tier is no longer asked.
    #expect(bench.drainRequests() == [String](repeating: "record", count: 4))
  }

  @Test("A lack of room on this machine is not the tier's failure")
  func room() throws {
    let digest = bench.put("body of a")
    bench.staging.capacity = 4
    #expect(try bench.end(of: bench.lookup("/a", digest)).failure?.code == .diskFull)
    bench.staging.capacity = .max
    var request = try bench.lookup("/a", digest)
    request.sizeLimit = 4
    #expect(try bench.end(of: request).failure?.code == .tooLarge)
    #expect(bench.drainRequests() == ["body", "body", "/a"], "the origin says how large it is")
    #expect(figures.troubles == 0)
  }

  @Test("All received bytes count, also useless ones")
  func bytes() throws {
    let digest = SHA256.digest(of: Array("body of a".utf8))
    bench.conduct = { TierBench.isAtTier($0) ? Lie.page.reply : nil }
    let end = try bench.end(of: bench.lookup("/a", digest))
    #expect(end.figures.wireBytes == 19 + 9)
    bench.conduct = { _ in nil }
    bench.put(bench.record("/a", "body of a"))
    _ = bench.put("body of a")
    let finished = try bench.end(of: bench.lookup("/a"))
    #expect(finished.figures.wireBytes == Int64("record 0".utf8.count) + 9)
  }

  // MARK: Redirects

  private func chain() -> OriginResponse {
    var origin = bench.record("/a", "body of a")
    origin.url = bench.url("/first")
    let end = bench.clock.now().wall + .seconds(300)
    origin.redirects = [
      .init(status: 302, target: bench.url("/second"), freshness: .declared(until: end)),
      .init(status: 307, target: bench.url("/a"), freshness: .declared(until: end + .seconds(60))),
    ]
    return origin
  }

  private func next(_ path: String) throws -> TransferRequest {
    var request = try bench.lookup(path)
    request.tierRequest?.isFirstHop = false
    return request
  }

  @Test("A chain of redirects is recorded hop by hop, each with its own facts")
  func redirects() throws {
    bench.put(chain())
    _ = bench.put("body of a")
    let first = try bench.response(to: bench.lookup("/first"))
    #expect(first.status == 302 && first.headers["Location"] == bench.url("/second"))
    #expect(first.headers["Cache-Control"] == "max-age=300")
    let hop = try bench.end(of: next("/second"))
    let second = try hop.outcome.get()
    #expect(second.status == 307 && second.headers["Location"] == bench.url("/a"))
    #expect(second.headers["Cache-Control"] == "max-age=360" && second.tierRespondedAt != nil)
    #expect(!hop.figures.wasSent)
    let last = try bench.response(to: next("/a"))
    #expect(last.status == 200 && bench.text(of: last) == "body of a")
    #expect(bench.drainRequests() == ["record", "body"])
    #expect(try bench.response(to: next("/a")).tierRespondedAt == nil, "it is reported once")
  }

  @Test("A hop of our own or a late one does not join a chain of the tier")
  func strangeHops() throws {
    for isLate in [false, true] {
      bench.put(chain())
      #expect(try bench.response(to: bench.lookup("/first")).status == 302)
      var request = try next("/second")
      if isLate {
        bench.clock.advance(by: .seconds(400))
      } else {
        request.tierRequest?.granted = nil
      }
      #expect(try bench.response(to: request).status == 404)
    }
    #expect(bench.drainRequests() == ["record", "/second", "record", "/second"])
  }

  // MARK: Dry runs

  @Test("A look is answered from the store, with the size and without a body")
  func looks() throws {
    let digest = bench.put("body of a")
    var request = try bench.lookup("/a", digest)
    request.method = .head
    let response = try bench.response(to: request)
    #expect(response.status == 200 && response.body == nil && response.tierRespondedAt != nil)
    #expect(response.headers["Content-Length"] == "9")
    bench.put(bench.record("/a", "body of a"))
    request = try bench.lookup("/a")
    request.method = .head
    let finished = try bench.response(to: request)
    #expect(finished.headers.all("Content-Length") == ["9"] && finished.headers["ETag"] != nil)
    #expect(bench.drainRequests() == ["look", "record", "look"])
    bench.store.files = [:]
    request = try bench.lookup("/a", digest)
    request.method = .head
    #expect(try bench.response(to: request).tierRespondedAt == nil)
    #expect(bench.drainRequests() == ["look", "/a"])
  }

  // MARK: Ends

  enum Stage: CaseIterable { case record, body, origin, passed }

  @Test("A cancelled request ends once and sends nothing more", arguments: Stage.allCases)
  func cancel(stage: Stage) throws {
    let isStale = stage == .origin
    if stage != .passed { bench.put(bench.record("/a", "x", age: .seconds(isStale ? 700 : 0))) }
    let steps = ["record"] + (stage == .record ? [] : stage == .body ? ["body"] : ["/a"])
    var requests: [String] = []
    bench.conduct = { [bench] request in
      let isLast = requests.count == steps.count - 1
      requests.append(TierBench.isAtTier(request) ? "tier" : "origin")
      return isLast ? .never : TierBench.isAtTier(request) ? bench.tierResponse(request) : nil
    }
    let request = try bench.lookup("/a")
    bench.transport?.start(request)
    for _ in 1..<4 { #expect(bench.transport?.wait(until: .zero).isEmpty == true) }
    bench.transport?.cancel(request.id)
    bench.transport?.cancel(request.id)
    let ends = bench.ends()
    #expect(ends[request.id]?.count == 1 && ends[request.id]?[0].failure?.code == .cancelled)
    #expect(bench.drainRequests() == steps)
    #expect(bench.staging.bodyCount == 0)
  }
}
