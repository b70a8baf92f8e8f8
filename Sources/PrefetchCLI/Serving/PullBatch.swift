import PrefetchConfig
import PrefetchCore
import PrefetchServe
import PrefetchStore
import PrefetchSystem

/// Items that clients wait for, fetched by one run of the engine.
struct PullBatch {
  struct Wanted {
    let number: Int
    let url: WebURL
    let wish: PullWish
    /// Whether the stored answer fits another client, and stays.
    var isPassed = false
  }

  private let pull: ItemPull
  private let session: ItemSession
  private let builder: RequestBuilder
  private var wanted: [Wanted]
  private let items: WantedItems
  private var facts: Planner.Facts
  private let replies: PullReplies

  private var context: CommandContext { session.context }

  init(
    pull: ItemPull,
    session: ItemSession,
    builder: RequestBuilder,
    wishes: [Wanted],
    lists: ReadLists,
    replies: PullReplies
  ) throws(CommandExit) {
    self.pull = pull
    self.session = session
    self.builder = builder
    self.replies = replies
    wanted = wishes
    let store = try session.store()
    facts = try session.context.facts(pull.loaded, builder, session.locations, store)
    let urls = wishes.map(\.url)
    let fields = wishes.first?.wish.fields.ofFirstOrigin ?? []
    let declared = try session.context.reading { () throws(Failure) in
      try DeclaredItems(
        of: urls,
        by: builder,
        in: store,
        typed: Set(urls.map(\.string)),
        // Most requested URLs are in no segment, and manifests may be long.
        searchesAll: pull.withholds || wishes.contains { $0.wish.name != nil },
        lists: lists
      )
    }
    let entries = urls.map { url in
      var entry = ManifestEntry(url: url)
      entry.headers = fields
      return entry
    }
    items = WantedItems(entries, declared: declared.overridingHeaders(with: fields))
  }

  mutating func bring() throws(CommandExit) {
    try giveKnown()
    try fetch()
    for item in wanted.indices where replies.isOpen(wanted[item].number) {
      replies.deliver()
      try pass(item)
    }
  }

  // MARK: Without a request

  private mutating func giveKnown() throws(CommandExit) {
    let store = try session.store()
    var kept = KeptItems(items, facts)
    for item in wanted.indices {
      if let outcome = try known(item, &kept, in: store) {
        replies.give(outcome, to: wanted[item].number)
      } else if wanted[item].wish.use == .onlyIfSelected {
        replies.give(unasked(.unasked), to: wanted[item].number)
      }
    }
  }

  private mutating func known(
    _ item: Int,
    _ kept: inout KeptItems,
    in store: DiskStore?
  ) throws(CommandExit) -> PullOutcome? {
    let wish = wanted[item].wish
    let url = items.recordURL(item)
    let stored = try context.reading { () throws(Failure) in try store?.record(url: url) }
    if let store, let record = stored, let digest = record.digest, wish.damaged == nil {
      let selection = items.selection(of: record, for: item, facts)
      if items.isPinned(item) && kept.isFresh(item, record)
        || wish.use != .afterRequest && selection == .same
      {
        let held = try context.reading { () throws(Failure) in try pull.cache.keep(url: url) }
        // Another client's answer may have replaced it.
        guard let held, held.response.record.digest == digest else { return nil }
        return unasked(.held(held.response))
      }
      if selection != .same, !wish.fields.isEmpty {
        let holders = try context.reading { () throws(Failure) in
          try store.segmentsHolding(url: url)
        }
        wanted[item].isPassed = !holders.isEmpty
      }
    }
    guard !wish.hasNoCache, let absence = try absence(of: item, in: store) else { return nil }
    return PullOutcome(.gone(status: absence.status, isRemembered: true))
  }

  private func unasked(_ result: PullOutcome.Result) -> PullOutcome {
    var outcome = PullOutcome(result)
    outcome.wasRequested = false
    return outcome
  }

  private func absence(of item: Int, in store: DiskStore?) throws(CommandExit) -> Absence? {
    guard let store, !facts.policy.revalidatesAll, !items.isPinned(item) else { return nil }
    let url = items.recordURL(item)
    let absence = try context.reading { () throws(Failure) in try store.absence(of: url) }
    let lasting = pull.loaded.configuration.cache.negativeTimeToLive
    guard let absence, absence.requestHash == items.fingerprint(item, facts),
      facts.now < absence.end(lasting: lasting)
    else { return nil }
    return absence
  }

  // MARK: With requests

  private mutating func fetch() throws(CommandExit) {
    let requested = wanted.indices.filter {
      replies.isOpen(wanted[$0].number) && !wanted[$0].isPassed
    }
    guard !requested.isEmpty else { return }
    replies.deliver()
    let fetch = itemFetch(session)
    let arrivals = Arrivals(requested.filter { items.isSingle($0) }.map { items.url($0) }) {
      [self] result in give(result, of: requested)
    }
    let numbers = Set(requested)
    let fetched = try fetch.fetch(
      items,
      where: numbers.contains,
      replacing: wanted.compactMap(\.wish.damaged),
      facts: facts,
      observer: arrivals
    )
    pull.cache.forget()
    facts.key = fetched.key
    var outcomes: [(item: Int, PullOutcome)] = []
    for item in requested where replies.isOpen(wanted[item].number) {
      outcomes.append((item, try outcome(of: fetched, item, in: pull.cache)))
    }
    try fetch.forget(Set(outcomes.filter { !$1.isStored }.map { items.recordURL($0.item) }))
    for (item, outcome) in outcomes {
      if case .held(let response) = outcome.result, !suits(response, item) { continue }
      replies.give(outcome, to: wanted[item].number)
    }
  }

  private func itemFetch(_ session: ItemSession) -> ItemFetch {
    ItemFetch(
      session: session,
      builder: builder,
      stop: pull.stop,
      keepsItems: true,
      servesClients: true
    )
  }

  private func give(_ result: ItemResult, of requested: [Int]) {
    guard replies.openCount > 1 else { return }
    pull.cache.forget()
    for item in requested where items.url(item) == result.url {
      guard replies.isOpen(wanted[item].number),
        let outcome = try? held(item, result, in: pull.cache), outcome.isStored,
        case .held(let response) = outcome.result, suits(response, item)
      else { continue }
      replies.give(outcome, to: wanted[item].number)
    }
    replies.deliver()
  }

  /// Fetches the answer into a temporary cache, since the stored one is not the client's.
  private mutating func pass(_ item: Int) throws(CommandExit) {
    var own = pull.locations
    let scratch = try context.reading { [own] () throws(Failure) in
      try ScratchCache(in: own.cache)
    }
    own.cache = scratch.path
    own.lower = nil
    let cache = ServedCache(
      own,
      hasOwnWriters: true,
      identity: pull.loaded.identity,
      granted: GrantedLifetimes(pull.loaded.configuration)
    )
    let session = ItemSession(context: context, loaded: pull.loaded, locations: own)
    defer { try? session.close() }
    let fetched = try itemFetch(session).fetch(items, where: { $0 == item }, facts: facts)
    facts.key = fetched.key
    var outcome = try outcome(of: fetched, item, in: cache)
    try context.reading { () throws(Failure) in try cache.close() }
    outcome.isStored = false
    withExtendedLifetime(scratch) { replies.give(outcome, to: wanted[item].number) }
  }

  // MARK: Outcomes

  private func suits(_ response: HeldResponse, _ item: Int) -> Bool {
    items.selection(of: response.record, for: item, facts) != .other
  }

  /// Returns the stored answer; nil if another process has removed it.
  private func held(
    _ item: Int,
    _ result: ItemResult?,
    in cache: ServedCache
  ) throws(CommandExit) -> PullOutcome? {
    let url = items.recordURL(item)
    let kept = try context.reading { () throws(Failure) in try cache.keep(url: url) }
    guard let kept else { return nil }
    var outcome = PullOutcome(.held(kept.response))
    // A stale body stands in for a response that never came.
    guard result?.outcome != .stale else {
      outcome.isStored = false
      return outcome
    }
    outcome.status = result?.status ?? kept.response.record.status
    // Removed after delivery: `no-store` bodies outside segments, and bodies not to be stored.
    outcome.isStored =
      kept.isDeclared
      || items.isKept(item)
        && !CacheControl(kept.response.record.headers.combined(.cacheControl)).hasNoStore
    return outcome
  }

  private func outcome(
    of fetched: ItemFetch.Fetched,
    _ item: Int,
    in cache: ServedCache
  ) throws(CommandExit) -> PullOutcome {
    let url = items.url(item)
    let result = fetched.report.items.first { $0.url == url }
    if let result, result.deferral == nil, result.failure?.code != .cancelled {
      let failure = result.status == nil ? result.failure.map { explained($0, item) } : nil
      pull.log.record(failure, of: wanted[item].url.authority)
    }
    if fetched.hasSucceeded[item] {
      return try held(item, result, in: cache)
        ?? pull.failed(.notFound, "another process has removed it")
    }
    let older = older(than: item)
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
      return pull.failed(.cancelled, "the server is stopping")
    }
    var outcome: PullOutcome
    if failure.code == .gone {
      outcome = PullOutcome(.gone(status: result.status ?? 404, isRemembered: false))
    } else {
      outcome = pull.failed(
        failure.code,
        explained(failure, item).message,
        older: StaleRule.covers(failure, status: result.status) ? older : nil
      )
    }
    outcome.status = result.status
    return outcome
  }

  /// Adds the step for a host without https; a client's address has no scheme, and means https.
  private func explained(_ failure: Failure, _ item: Int) -> Failure {
    guard wanted[item].url.scheme == .https, [.tls, .connect].contains(failure.code) else {
      return failure
    }
    var failure = failure
    failure.message +=
      "; it was asked over https, and a host with plain http alone needs `allow_http`"
    return failure
  }

  /// Returns a stale answer in place of a failed request; nil if the client insists on a request.
  private func older(than item: Int) -> HeldResponse? {
    let wish = wanted[item].wish
    guard !wish.hasNoCache, wish.damaged == nil,
      let held = (try? pull.cache.find(address: items.recordURL(item))) ?? nil, suits(held, item),
      let end = held.freshUntil, !held.record.mustRevalidate,
      context.clock.now().wall - end <= pull.maximumStale
    else { return nil }
    return held
  }
}

/// Observes items of a batch that arrive while others are in flight.
private final class Arrivals: RunObserver {
  let needsEachFact = true
  private let urls: Set<String>
  private let give: (ItemResult) -> Void

  init(_ urls: [String], _ give: @escaping (ItemResult) -> Void) {
    self.urls = Set(urls)
    self.give = give
  }

  func observe(_ fact: RunFact, at now: Moment) {
    guard case .itemSettled(let result) = fact, result.failure == nil, result.deferral == nil,
      [.added, .updated, .headers, .unchanged].contains(result.outcome), urls.contains(result.url)
    else { return }
    give(result)
  }
}
