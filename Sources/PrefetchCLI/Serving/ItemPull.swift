import PrefetchConfig
import PrefetchCore
import PrefetchServe
import PrefetchStore
import PrefetchSystem
import Synchronization

/// One item, asked for on behalf of clients as `get` would ask for it.
struct ItemPull: Sendable {
  let sessions: ItemSessions
  let loaded: LoadedConfiguration
  let places: Places
  let cache: ServedCache
  let lists = ListMemory()
  /// How long an older copy may stand in for an answer that cannot be had.
  let maximumStale: Duration
  let stop: ServeStop

  func outcome(of wish: PullWish) -> PullOutcome {
    sessions.with { session in try? pulled(wish, in: session) }
      ?? failed(.internal, "the cache cannot be used; the server's messages say why")
  }

  private func pulled(
    _ wish: PullWish,
    in session: ItemSession
  ) throws(CommandExit) -> PullOutcome {
    let context = session.context
    var engine = EngineOptions()
    engine.revalidatesAll = wish.url != nil
    var builder = context.builder(loaded, engine)
    builder.clientFields = wish.fields.everywhere
    let url: WebURL
    var lists = ReadLists()
    if wish.url == nil, let name = wish.name {
      guard let known = try find(name, wish, session, builder, &lists) else {
        return unknown(lists)
      }
      url = known
    } else {
      guard let asked = try self.url(of: wish, session, builder) else {
        return failed(.badURL, "it is no URL that can be asked for")
      }
      url = asked
    }
    var found = try look(url, wish, lists, session, builder)
    switch found.known {
    case .absent(let absence)?:
      return PullOutcome(.gone(status: absence.status, isRemembered: true))
    case .good(let digest)?:
      let kept = try context.reading { () throws(Failure) in try cache.keep(url: url.string) }
      // Another client's answer may have taken its place meanwhile.
      if let kept, kept.answer.record.digest == digest { return unasked(.held(kept.answer)) }
    case nil: break
    }
    if wish.use == .onlyIfSelected { return unasked(.unasked) }
    if !found.passes {
      let outcome = try fetch(&found, wish, builder, in: session, cache)
      guard case .held(let answer) = outcome.result, !found.suits(answer) else { return outcome }
      // Another client's answer has taken its place meanwhile.
    }
    return try pass(&found, wish, builder, context)
  }

  private func unasked(_ result: PullOutcome.Result) -> PullOutcome {
    var outcome = PullOutcome(result)
    outcome.isAsked = false
    return outcome
  }

  private func fetch(
    _ found: inout Found,
    _ wish: PullWish,
    _ builder: RequestBuilder,
    in session: ItemSession,
    _ cache: ServedCache
  ) throws(CommandExit) -> PullOutcome {
    let fetch = ItemFetch(
      session: session,
      builder: builder,
      stop: stop,
      keepsItems: true,
      servesClients: true
    )
    let fetched = try fetch.fetch(
      found.items,
      replacing: wish.damaged.map { [$0] } ?? [],
      facts: found.facts
    )
    cache.forget()
    found.facts.key = fetched.key
    let outcome = try outcome(of: fetched, found, wish, session.context, in: cache)
    if !outcome.isStored { try fetch.forget([found.items.url(0)]) }
    return outcome
  }

  /// Fetches the client's answer into a cache of its own: the stored one belongs to a segment or to
  /// another client, and stays.
  private func pass(
    _ found: inout Found,
    _ wish: PullWish,
    _ builder: RequestBuilder,
    _ context: CommandContext
  ) throws(CommandExit) -> PullOutcome {
    let passing = try context.reading { () throws(Failure) in
      try PassingCache(in: places.cache)
    }
    var own = places
    own.cache = passing.path
    own.lower = nil
    let cache = ServedCache(
      own,
      besideOwnWriters: true,
      identity: loaded.identity,
      granted: GrantedLifetimes(loaded.configuration)
    )
    var wish = wish
    wish.damaged = nil
    let session = ItemSession(context: context, loaded: loaded, places: own)
    defer { try? session.close() }
    var outcome = try fetch(&found, wish, builder, in: session, cache)
    try context.reading { () throws(Failure) in try cache.close() }
    outcome.isStored = false
    return withExtendedLifetime(passing) { outcome }
  }

  // MARK: Names

  /// Returns the URL that a stored list tells, or else one that was asked for, which goes into `lists`.
  private func find(
    _ name: PullWish.Name,
    _ wish: PullWish,
    _ session: ItemSession,
    _ builder: RequestBuilder,
    _ lists: inout ReadLists
  ) throws(CommandExit) -> WebURL? {
    let context = session.context
    let word = name.provider.map { "\($0)/\(name.id)" } ?? name.id
    let lookup = ItemLookup(context: context)
    let store = try session.store()
    if let record = try lookup.cached(word, in: store) { return try? WebURL(record.url) }
    if let known = try lookup.declared(word, builder, in: store) { return known.url }
    let reading = ListReading(session: session, builder: builder, stop: stop)
    lists = try self.lists.read(
      at: context.clock.now().uptime,
      lasting: wish.hasNoCache ? .zero : loaded.configuration.cache.negativeTimeToLive
    ) { () throws(CommandExit) in try reading.read() }
    return try lookup.declared(word, builder, in: store, lists: lists)?.url
  }

  private func unknown(_ lists: ReadLists) -> PullOutcome {
    guard lists.status != .nothing, let warning = lists.warnings.first else {
      return PullOutcome(.gone(status: 404, isRemembered: false))
    }
    return failed(.notInManifest, warning.message)
  }

  /// The URL as it is stored, else by `https`; nil for what is no URL.
  ///
  /// By `http` where the configuration says that a host, or this network, is reached so, and does not
  /// declare it by `https`.
  private func url(
    of wish: PullWish,
    _ session: ItemSession,
    _ builder: RequestBuilder
  ) throws(CommandExit) -> WebURL? {
    let context = session.context
    if let stored = wish.url { return try? WebURL(stored) }
    if wish.address.contains("://") { return try? WebURL(wish.address) }
    guard let secure = try? WebURL("https://\(wish.address)") else { return nil }
    guard let plain = plain(secure, wish.address, at: context.clock.now().wall) else {
      return secure
    }
    let store = try session.store()
    let declared = try context.reading { () throws(Failure) in
      try DeclaredItems(of: [secure], by: builder, in: store, searchesAll: withholds)
    }
    return declared[secure].isEmpty ? plain : secure
  }

  /// The same URL in the clear, where the host or this network is reached so.
  private func plain(_ url: WebURL, _ address: String, at now: Instant) -> WebURL? {
    let rules = loaded.configuration.transportSecurity.decisive
    let isPlain =
      switch rules.basis(of: url.host, at: now) {
      case .exception(_, let exception): exception.allowsInsecureHTTP
      case .localNetworking: true
      case .rules, .expired, .media, .webContent, .arbitraryLoads: false
      }
    return isPlain && url.port != 443 ? try? WebURL("http://\(address)") : nil
  }

  /// Answer to a client without a request to a server.
  private enum Known {
    /// A server said not long ago that it does not have it.
    case absent(Absence)
    /// The stored body is the one that its declaration names by digest, or is fresh and this client's.
    case good(ContentDigest)
  }

  /// Facts about an item before a server is asked.
  private struct Found {
    let items: WantedItems
    var facts: Planner.Facts
    var known: Known?
    /// Whether the stored answer is not the client's, and stays.
    var passes = false

    /// Whether a stored answer may be the one that the client would get.
    func suits(_ answer: HeldAnswer) -> Bool {
      items.selection(of: answer.record, for: 0, facts) != .other
    }
  }

  private func look(
    _ url: WebURL,
    _ wish: PullWish,
    _ lists: ReadLists,
    _ session: ItemSession,
    _ builder: RequestBuilder
  ) throws(CommandExit) -> Found {
    let context = session.context
    let store = try session.store()
    let facts = try context.facts(loaded, builder, places, store)
    let items = try items(url, wish, lists, context, builder, store)
    var found = Found(items: items, facts: facts)
    let stored = try context.reading { () throws(Failure) in try store?.record(url: url.string) }
    if let store, let record = stored, let digest = record.digest, wish.damaged == nil {
      let selection = items.selection(of: record, for: 0, facts)
      var kept = KeptItems(items, facts)
      if items.isPinned(0) && kept.isFresh(0, record) || wish.use != .question && selection == .same
      {
        found.known = .good(digest)
        return found
      }
      if selection != .same, !wish.fields.isEmpty {
        let holders = try context.reading { () throws(Failure) in
          try store.segmentsHolding(url: url.string)
        }
        found.passes = !holders.isEmpty
      }
    }
    if !wish.hasNoCache {
      found.known = try absence(of: items, facts, context, store).map { .absent($0) }
    }
    return found
  }

  private func items(
    _ url: WebURL,
    _ wish: PullWish,
    _ lists: ReadLists,
    _ context: CommandContext,
    _ builder: RequestBuilder,
    _ store: DiskStore?
  ) throws(CommandExit) -> WantedItems {
    let declared = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: [url],
        by: builder,
        in: store,
        typed: [url.string],
        // Most of what clients ask for no segment declares, and manifests may be long.
        searchesAll: withholds || wish.name != nil,
        lists: lists
      )
    }
    var entry = ManifestEntry(url: url)
    entry.headers = wish.fields.ofFirstOrigin
    return WantedItems([entry], declared: declared.asked(with: entry.headers))
  }

  /// Whether there may be declared items that no segment holds.
  private var withholds: Bool {
    loaded.configuration.download.behavior != .all
      || loaded.configuration.segments.contains { $0.behavior ?? .all != .all }
  }

  /// That a server does not have it, as it said not long ago.
  private func absence(
    of items: WantedItems,
    _ facts: Planner.Facts,
    _ context: CommandContext,
    _ store: DiskStore?
  ) throws(CommandExit) -> Absence? {
    guard let store, !facts.policy.revalidatesAll, !items.isPinned(0) else { return nil }
    let absence = try context.reading { () throws(Failure) in try store.absence(of: items.url(0)) }
    let lasting = loaded.configuration.cache.negativeTimeToLive
    guard let absence, absence.asked == items.fingerprint(0, facts),
      facts.now < absence.end(lasting: lasting)
    else { return nil }
    return absence
  }

  private func outcome(
    of fetched: ItemFetch.Fetched,
    _ found: Found,
    _ wish: PullWish,
    _ context: CommandContext,
    in cache: ServedCache
  ) throws(CommandExit) -> PullOutcome {
    let url = found.items.url(0)
    let result = fetched.report.items.first { $0.url == url }
    if fetched.isAnswered[0] {
      let kept = try context.reading { () throws(Failure) in try cache.keep(url: url) }
      guard let kept else { return failed(.notFound, "another process has removed it") }
      var outcome = PullOutcome(.held(kept.answer))
      outcome.status = result?.status ?? kept.answer.record.status
      // What came with `no-store` goes when it was delivered, unless a segment holds it, and so does
      // what its segment does not store.
      outcome.isStored =
        kept.isDeclared
        || found.items.isKept(0)
          && !CacheControl(kept.answer.record.headers.combined(.cacheControl)).hasNoStore
      return outcome
    }
    let older = older(than: url, found, wish, at: context.clock.now().wall)
    if let deferral = result?.deferral {
      return PullOutcome(
        .deferred(
          rule: deferral.rule.rawValue,
          until: deferral.until,
          older: older
        )
      )
    }
    guard let result, let failure = result.failure else {
      return failed(.cancelled, "the server is stopping")
    }
    var outcome: PullOutcome
    if failure.code == .gone {
      outcome = PullOutcome(.gone(status: result.status ?? 404, isRemembered: false))
    } else {
      outcome = failed(
        failure.code,
        failure.message,
        older: StaleRule.covers(failure, status: result.status) ? older : nil
      )
    }
    outcome.status = result.status
    return outcome
  }

  /// Returns the stored answer that may stand in for one that cannot be had now; nil for a client that
  /// insists on a request, and for a damaged body.
  private func older(
    than url: String,
    _ found: Found,
    _ wish: PullWish,
    at now: Instant
  ) -> HeldAnswer? {
    guard !wish.hasNoCache, wish.damaged == nil,
      let held = (try? cache.find(address: url)) ?? nil, found.suits(held),
      let end = held.freshUntil, !held.record.mustRevalidate, now - end <= maximumStale
    else { return nil }
    return held
  }

  private func failed(
    _ code: ErrorCode,
    _ message: String,
    older: HeldAnswer? = nil
  ) -> PullOutcome {
    let shown = Redaction.masked(message, secrets: loaded.secrets)
    return PullOutcome(.failed(code: code.rawValue, message: shown, older: older))
  }
}

/// Lists that a server has asked for, which are not asked for again at once.
final class ListMemory: Sendable {
  private let last = Mutex<(lists: ReadLists, at: Duration)?>(nil)

  /// Whoever comes while they are asked for waits for them.
  func read(
    at now: Duration,
    lasting: Duration,
    _ read: () throws(CommandExit) -> ReadLists
  ) throws(CommandExit) -> ReadLists {
    let outcome = last.withLock { last -> Result<ReadLists, CommandExit> in
      if let last, now - last.at < lasting { return .success(last.lists) }
      do throws(CommandExit) {
        let lists = try read()
        if lists.isWhole { last = (lists, now) }
        return .success(lists)
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}

/// The end of a server as the transfers that it waits for see it.
final class ServeStop: StopSignal, Sendable {
  private let isSet = Atomic<Bool>(false)

  func set() {
    isSet.store(true, ordering: .relaxed)
  }

  var pending: Int32? {
    StopSignals.pending ?? (isSet.load(ordering: .relaxed) ? ServeStop.termination : nil)
  }

  private static let termination: Int32 = 15
}
