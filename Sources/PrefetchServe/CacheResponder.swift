package import PrefetchCore

/// Responds from a cache, and through a puller from the origins.
package final class CacheResponder: Responder {
  package let counts: ServeCounts

  package var heedsFields: Bool { puller != nil }

  private let source: any CacheSource
  private let puller: (any CachePuller)?
  private let clock: any Clock & Sendable
  /// URL of the folder served at `/`; nil serves all hosts.
  private let base: String?

  /// Makes a responder; without a puller, stored responses are served however old.
  package init(
    source: any CacheSource,
    puller: (any CachePuller)?,
    base: WebURL? = nil,
    clock: any Clock & Sendable,
    listener: ServeCounts.Listener? = nil
  ) {
    counts = ServeCounts(listener: listener)
    self.source = source
    self.puller = puller
    self.clock = clock
    self.base = base.map { $0.string.hasSuffix("/") ? $0.string : $0.string + "/" }
  }

  package func respond(to request: ServedRequest) -> Reply {
    do throws(Failure) {
      switch CacheTarget(request.target, below: base) {
      case .malformed:
        return .now(.refusal(400))
      case .nowhere:
        return .now(.refusal(404, "ask for /HOST/PATH, /-/item/PROVIDER/ID or /-/health"))
      case .health:
        return .now(counts.health)
      case .item(let provider, let id, let name):
        let held = try source.find(provider: provider, id: id)
        if let name,
          let file = held?.bundleFile?(name)
            ?? source.findPast(provider: provider, id: id, name: name)
        {
          return inquiry(request, file.address).reply(withBundleFile: file)
        }
        if name?.hasPrefix("@") == true, held?.bundleFile != nil {
          let words =
            "this generation was unused for ten minutes and is closed; open the item again"
          return .now(refusal(410, .miss, of: nil, CacheStatus(.own, detail: "absent"), words))
        }
        guard let held else {
          let wished = PullWish.Name(provider: provider, id: id)
          return inquiry(request, "").reply(seeking: wished, file: name)
        }
        guard name.map({ held.isNamed($0) }) ?? true else { return .now(absence) }
        return inquiry(request, held.address).reply(with: held)
      case .address(let address):
        return inquiry(request, address).reply(with: try source.find(address: address))
      }
    } catch {
      counts.add(.failure)
      return .now(.refusal(500, error.message))
    }
  }

  private var absence: ServedResponse {
    refusal(404, .miss, of: nil, CacheStatus(.own, detail: "absent"))
  }

  private func inquiry(_ request: ServedRequest, _ address: String) -> Inquiry {
    Inquiry(desk: self, request: request, address: address)
  }

  private func refusal(
    _ status: Int,
    _ kind: ServeCounts.Kind,
    of address: String?,
    _ cache: CacheStatus,
    _ words: String? = nil,
    _ more: [(name: String, value: String)] = []
  ) -> ServedResponse {
    counts.add(kind, of: address)
    return .refusal(status, words, cache.headers + more)
  }

  // MARK: One request

  private struct Inquiry: Sendable {
    let desk: CacheResponder
    let request: ServedRequest
    let address: String
    let directives: RequestDirectives

    init(desk: CacheResponder, request: ServedRequest, address: String) {
      self.desk = desk
      self.request = request
      self.address = address
      directives = RequestDirectives(cacheControl: request.cacheControl, pragma: request.pragma)
    }

    func reply(with held: HeldResponse?) -> Reply {
      let now = desk.clock.now().wall
      guard let held, !held.hasExpired(now) else {
        let url = address.contains("://") ? address : "https://\(address)"
        guard (try? WebURL(url)) != nil else { return .now(.refusal(400)) }
        if directives.hasOnlyIfCached { return .now(timeout("only-if-cached")) }
        guard desk.puller != nil else {
          let status = CacheStatus(.own, detail: "absent")
          return .now(desk.refusal(404, .miss, of: address, status, "it is not in the cache"))
        }
        return pull(nil, for: .uriMiss)
      }
      switch Reuse(directives, age: held.age(at: now), left: held.left(at: now)) {
      case .asItIs:
        guard depends(held) else { return give(held, CacheStatus(.hit)) }
        return pull(
          held,
          for: .varyMiss,
          use: directives.hasOnlyIfCached ? .onlyIfSelected : .ifSelected
        )
      case .afterRequest(let isClientsWish):
        if directives.hasOnlyIfCached { return .now(timeout("only-if-cached")) }
        guard desk.puller == nil else { return pull(held, for: isClientsWish ? .request : .stale) }
        // No server may be asked: unless the client insists, a stale response is better than none.
        return directives.hasNoCache ? .now(timeout("no-cache")) : give(held, CacheStatus(.hit))
      }
    }

    func reply(seeking name: PullWish.Name, file: String?) -> Reply {
      guard desk.puller != nil else { return .now(desk.absence) }
      if directives.hasOnlyIfCached { return .now(timeout("only-if-cached")) }
      var wish = PullWish(url: nil, address: "")
      wish.name = name
      wish.hasNoCache = directives.hasNoCache
      return pull(wish, CacheStatus(.forwarded(.uriMiss)), file: file)
    }

    /// Returns whether the stored response may be another client's; never for a multi-file item.
    private func depends(_ held: HeldResponse) -> Bool {
      desk.puller != nil && held.opening == nil && ClientFields.select(held.record.variance)
    }

    /// Replies with a file of a whole item, which is as old as the item and never pulled alone.
    func reply(withBundleFile held: HeldResponse) -> Reply {
      give(held, CacheStatus(.hit), mayPull: false)
    }

    private func timeout(_ detail: String) -> ServedResponse {
      let status = CacheStatus(.own, detail: detail)
      return desk.refusal(504, .miss, of: address, status, "the answer would need a server")
    }

    // MARK: Giving

    /// Replies with the stored body; an unverified one is hashed before or while it is sent.
    private func give(_ held: HeldResponse, _ status: CacheStatus, mayPull: Bool = true) -> Reply {
      if let opening = held.opening {
        desk.counts.add(.hit, of: held.record.url)
        let headers = [(name: "Location", value: opening)] + status.headers
        return .now(.refusal(302, "its files are below this one", headers))
      }
      let plan = ConditionalResponse(request, held.version, [])
      guard let part = plan.part else { return .now(response(held, nil, status)) }
      guard let body = held.body.open() else { return replace(held, mayPull) }
      let isLong = held.record.size > Self.longestHashedAtOnce
      if body.isVerified || (isLong && part.count == held.record.size) {
        return .now(response(held, body, status))
      }
      guard isLong else { return look(at: held, body, status, mayPull) }
      // Hashing here would block the other connections of this thread.
      return .later { finish in
        Background.perform { settle(look(at: held, body, status, mayPull), finish) }
      }
    }

    private static let longestHashedAtOnce: Int64 = 1 << 20

    private func look(
      at held: HeldResponse,
      _ body: any OpenBody,
      _ status: CacheStatus,
      _ mayPull: Bool
    ) -> Reply {
      body.verify() ? .now(response(held, body, status)) : replace(held, mayPull)
    }

    private func replace(_ held: HeldResponse, _ mayPull: Bool) -> Reply {
      if directives.hasOnlyIfCached { return .now(timeout("damaged")) }
      if mayPull, desk.puller != nil { return pull(held, for: .miss, isDamaged: true) }
      let status = CacheStatus(.own, detail: "damaged")
      return .now(desk.refusal(500, .failure, of: address, status, "the stored body is damaged"))
    }

    private func settle(_ reply: Reply, _ finish: @escaping @Sendable (ServedResponse) -> Void) {
      switch reply {
      case .now(let response): finish(response)
      case .later(let begin): begin(finish)
      }
    }

    private func response(
      _ held: HeldResponse,
      _ body: (any OpenBody)?,
      _ status: CacheStatus
    ) -> ServedResponse {
      let now = desk.clock.now().wall
      var status = status
      status.timeLeft = held.left(at: now)
      let kind: ServeCounts.Kind = if case .hit = status.handling { .hit } else { .miss }
      desk.counts.add(kind, of: held.record.url)
      let age = [(name: "Age", value: String(held.age(at: now).components.seconds))]
      let headers = held.headers.ofEvery + age + status.headers
      let plan = ConditionalResponse(request, held.version, headers)
      return plan.response(with: held.headers.ofBody) { part in
        let length = Int64(part.count)
        guard !request.isHead, let body else { return .unsent(length: length) }
        desk.counts.addBytes(length)
        guard body.isVerified else { return .read(body.reader(), length: length) }
        return .file(body.descriptor(), offset: part.lowerBound, length: length)
      }
    }

    // MARK: Pulling

    private func pull(
      _ held: HeldResponse?,
      for reason: CacheStatus.Forwarding,
      isDamaged: Bool = false,
      use: PullWish.Use = .afterRequest
    ) -> Reply {
      var wish = PullWish(url: held?.record.url, address: address)
      wish.damaged = isDamaged ? held?.record.digest : nil
      wish.hasNoCache = directives.hasNoCache
      wish.use = use
      wish.fields = request.fields.named(by: held?.record.variance)
      return pull(wish, CacheStatus(.forwarded(reason)))
    }

    private func pull(_ wish: PullWish, _ status: CacheStatus, file: String? = nil) -> Reply {
      guard let puller = desk.puller else { return .now(timeout("absent")) }
      return .later { finish in
        puller.pull(wish) { outcome in
          var status = status
          status.forwardStatus = outcome.status ?? status.forwardStatus
          status.isCollapsed = outcome.isShared
          if let file, case .held(let whole) = outcome.result {
            settle(reply(with: file, of: whole), finish)
          } else {
            settle(reply(to: outcome, of: wish, status), finish)
          }
        }
      }
    }

    private func reply(with file: String, of whole: HeldResponse) -> Reply {
      if let file = whole.bundleFile?(file) { return reply(withBundleFile: file) }
      return whole.isNamed(file) ? give(whole, CacheStatus(.hit)) : .now(desk.absence)
    }

    private func closerWish(than wish: PullWish, after pulled: HeldResponse) -> PullWish? {
      guard pulled.opening == nil else { return nil }
      let fields = request.fields.named(by: pulled.record.variance)
      guard !fields.isSubset(of: wish.fields) else { return nil }
      var closer = wish
      closer.url = pulled.record.url
      closer.use = .ifSelected
      // All headers at last, in case the server names other ones each time.
      closer.fields = wish.fields.isEmpty ? fields : request.fields
      return closer
    }

    private func reply(
      to outcome: PullOutcome,
      of wish: PullWish,
      _ status: CacheStatus
    ) -> Reply {
      var status = status
      let mayPull = wish.damaged == nil
      switch outcome.result {
      case .held(let pulled) where !outcome.wasRequested:
        let isHit = status.forwardStatus == nil
        return give(pulled, isHit ? CacheStatus(.hit) : status, mayPull: mayPull)
      case .held(let pulled):
        if let closer = closerWish(than: wish, after: pulled) {
          return pull(closer, status)
        }
        status.isStored = outcome.isStored && outcome.status != 304
        return give(pulled, status, mayPull: mayPull)
      case .unasked:
        return .now(timeout("only-if-cached"))
      case .gone(let code, let isRemembered):
        if isRemembered { status = CacheStatus(.hit, detail: "absent") }
        return .now(
          desk.refusal(
            code,
            isRemembered ? .hit : .miss,
            of: address,
            status,
            "the server does not have it"
          )
        )
      case .deferred(let rule, let until, let older):
        status.detail = rule
        if let older { return give(older, status, mayPull: false) }
        let wait = until.map { max(1, ($0 - desk.clock.now().wall).components.seconds) }
        let headers = wait.map { [(name: "Retry-After", value: String($0))] } ?? []
        return .now(
          desk.refusal(503, .failure, of: address, status, "it is deferred by \(rule)", headers)
        )
      case .failed(let code, let message, let older):
        status.detail = code
        if let older { return give(older, status, mayPull: false) }
        return .now(desk.refusal(outcome.refusal ?? 502, .failure, of: address, status, message))
      }
    }
  }
}
