import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

struct ExplainCommand: Command {
  let context: CommandContext
  let options: ExplainOptions

  func run() throws(CommandExit) -> Int32 {
    let mirror = try MirrorFolder.remembered(context)
    let (loaded, locations) =
      if let mirror { mirror } else { try context.configurationAndLocations() }
    if let list = try ListExplanation(of: options.item, loaded, locations, context) {
      context.console.print(list.document(), orLines: list.lines())
      return ExitStatus.ok.code
    }
    guard let facts = try gather(loaded, locations) else {
      throw context.failed(
        .nothing,
        "item.not-found",
        "`\(SafeText.line(Redaction.url(options.item)))` is neither a URL nor the id of a known item"
      )
    }
    context.console.print(facts.document(), orLines: facts.lines())
    return ExitStatus.ok.code
  }

  private func gather(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> ExplainFacts? {
    let store = try context.readingStore(locations)
    var record = try ItemLookup(context: context).cached(options.item, in: store)
    let typed = try TypedURL.read(options.item, isKnown: record != nil, context)
    let now = context.clock.now().wall
    var builder = context.builder(loaded)
    builder.lockfile = try context.lockfile(loaded, isFrozen: false)
    let policy = builder.policy
    var named = (record.flatMap { try? WebURL($0.shownURL) } ?? typed?.url).map {
      ManifestEntry(url: $0)
    }
    named?.zone = record.flatMap { AdSpace.zone(ofRecord: $0.url) }
    if named == nil {
      named = try ItemLookup(context: context).declared(options.item, builder, in: store)
    }
    guard let named else { return nil }
    let url = named.url
    var judged = try context.facts(loaded, builder, locations, store)
    if builder.configuration.segments.contains(where: \.selectsByAge) {
      let inventory = try context.reading { () throws(Failure) in try store?.readInventory() }
      judged.inventory = inventory ?? judged.inventory
    }
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: [url],
        zones: [named.zone].compactMap(\.self),
        by: builder,
        in: store,
        judgedBy: judged
      )
    }
    context.console.report(known.warnings)
    let declared = known[named]
    // A segment that takes the item outweighs one that leaves it out.
    let chosen =
      declared.first { $0.leftOut == nil && !$0.isWithheld }
      ?? declared.first { $0.leftOut == nil } ?? declared.first
    let segment = chosen?.segment ?? SegmentDeclaration(name: "", source: .inline([]))
    var entry = chosen?.entry ?? undeclared(url, record)
    if let typed { entry.digests = typed.digests(combinedWith: entry.digests) ?? typed.digests }
    if record == nil, entry.zone != nil {
      record = try context.reading { () throws(Failure) in
        try store?.record(url: entry.recordURL)
      }
    }
    let provenance = provenance(of: segment, in: loaded)
    let isLost = try context.reading { () throws(Failure) in
      guard let store, let digest = record?.digest else { return false }
      return try store.storedSize(digest) != record?.size
    }
    let sight = try context.reading { () throws(Failure) in
      try store?.readInventory(of: [entry.recordURL]).sights.values.first
    }
    let (decision, reason) = Planner.decide(
      entry,
      record: record,
      segment: segment,
      facts: judged,
      named: provenance,
      isMissing: isLost,
      sight: sight
    )
    let failure = reason.failure(of: entry, segment: segment, policy: policy, now: now)
    let purpose = RequestPurpose(itemType: entry.type)
    let rules = policy.connectionRules(
      for: url,
      purpose: purpose,
      named: provenance,
      rule: nil,
      at: now
    )
    var facts = ExplainFacts(
      url: url,
      segments: declared.filter { $0.leftOut == nil }.map(\.segment.name),
      rules: policy.verdicts(on: entry, segment: segment, named: provenance, at: now),
      security: policy.account(of: url, for: purpose, at: now),
      connection: rules ?? policy.defaultRules,
      pins: policy.connections.pins.entries(for: url.host),
      decision: decision.action,
      reason: failure?.message ?? reason.text,
      now: now,
      bodies: store?.bodyPaths ?? locations.bodies
    )
    if let lock = builder.lockfile?.segment(segment.name) {
      let isNamed = lock.items.position(of: URLKey(entry.url.string)) != nil
      facts.rules.append(
        RuleVerdict(
          "lockfile",
          isNamed ? .applies : .silent,
          isNamed
            ? "the lock file pins the body"
            : "the lock file does not name the item; only `--frozen` refuses it for that"
        )
      )
    }
    if let gate = AgeGate(segment, policy, at: now) {
      let verdict = gate.verdict(on: entry, AgeGate.Past(record, sight))
      facts.rules.append(verdict)
      if verdict.verdict == .deferred, decision.needsRequest {
        (facts.decision, facts.reason) = (.defer, "younger than `min_age`")
      }
    }
    facts.progress = ItemProgress.byURL(inCache: locations.cache)[url.string]
    facts.grants = grants(entry, declared.map(\.segment), policy)
    if let store {
      facts.absence = try context.reading { () throws(Failure) in
        try store.absence(of: url.string)
      }
      facts.negativeTimeToLive = loaded.configuration.cache.negativeTimeToLive
    }
    if let leftOut = chosen?.leftOut {
      facts.decision = .keep
      facts.isLeftOut = true
      facts.reason = "left out: \(leftOut)"
    }
    if let expires = entry.expires, expires <= now {
      facts.decision = .remove
      facts.reason = "it expired, as its manifest states, on \(Timestamp.format(expires))"
    }
    try add(record, from: store, to: &facts, locations)
    if facts.reason == reason.text, let account = facts.freshness, account.isCheckedAlways {
      facts.setFreshness(account, of: reason)
    }
    let isOpen =
      record.map { $0.digest == nil && $0.state != .paused && $0.state != .failed } ?? true
    if isOpen { facts.bodilessState = try bodilessState(of: url, facts, loaded, locations, store) }
    if record == nil, declared.isEmpty { try explainList(at: url, loaded, store, &facts) }
    if let declared = chosen {
      facts.rules += declared.headerVerdicts
      var segment = declared.segment
      if let own = entry.network {
        segment.network = builder.network(segment.network, narrowedBy: own, of: segment.name)
      }
      try addNetwork(segment, loaded, to: &facts, locations)
    }
    return facts
  }

  private func explainList(
    at url: WebURL,
    _ loaded: LoadedConfiguration,
    _ store: DiskStore?,
    _ facts: inout ExplainFacts
  ) throws(CommandExit) {
    let names = loaded.configuration.segments.filter { $0.manifest == .remote(url) }.map(\.name)
    guard !names.isEmpty else { return }
    let records = try context.reading { () throws(Failure) in try store?.segments() ?? [] }
    let last = records.first {
      $0.key.identity == loaded.identity && names.contains($0.key.name) && $0.manifest != nil
    }
    facts.segments = names
    if last != nil { facts.bodilessState = (.cached, "kept as a list") }
    guard facts.decision != .fail else { return }
    facts.decision = last == nil ? .fetch : .revalidate
    facts.reason =
      "the list of segment `\(names.joined(separator: "`, `"))`, asked for in every run"
      + ListExplanation.account(of: last, facts.history)
  }

  private func bodilessState(
    of url: WebURL,
    _ facts: ExplainFacts,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> (state: ItemState, reason: String)? {
    let declared = try DeclaredStates(context, loaded, locations, store)
    if let item = declared.items.first(where: { $0.entry.url == url }) {
      return (item.state, item.reason)
    }
    guard let last = facts.history.first, last.outcome == .removed,
      facts.now - last.at < .seconds(30 * 86_400)
    else { return nil }
    return (.deleted, "removed on \(Timestamp.format(last.at))")
  }

  private func undeclared(_ url: WebURL, _ record: ContentRecord?) -> ManifestEntry {
    var entry = ManifestEntry(url: url)
    entry.type = record?.type
    entry.zone = record.flatMap { AdSpace.zone(ofRecord: $0.url) }
    return entry
  }

  private func grants(
    _ entry: ManifestEntry,
    _ segments: [SegmentDeclaration],
    _ policy: RunPolicy
  ) -> [FreshnessGrant] {
    var grants: [FreshnessGrant] = []
    if let own = entry.lifetime { grants.append(FreshnessGrant(own, by: "the item's `ttl`")) }
    for segment in segments {
      guard let lifetime = segment.lifetime else { continue }
      grants.append(FreshnessGrant(lifetime, by: "`ttl` of segment `\(segment.name)`"))
    }
    if let bound = policy.freshnessLimit {
      grants.append(FreshnessGrant(.atMost(bound), by: "`cache.ttl`"))
    }
    return grants
  }

  /// Guesses whether an outside server named the item; only its manifest would tell for sure.
  private func provenance(
    of segment: SegmentDeclaration,
    in loaded: LoadedConfiguration
  ) -> Provenance {
    let declared = loaded.configuration.segments.first { $0.name == segment.name }
    guard let url = declared?.manifestURL else { return .local }
    return TransportSecurity.isLocal(url.host) ? .local : .publicServer
  }

  private func addNetwork(
    _ segment: SegmentDeclaration,
    _ loaded: LoadedConfiguration,
    to facts: inout ExplainFacts,
    _ locations: CacheLocations
  ) throws(CommandExit) {
    let state = try context.readingState(locations)
    let (view, memory) = try context.reading { () throws(Failure) in
      (
        try NetworkView(
          context: context,
          loaded: loaded,
          state: state,
          looksAtAll: false,
          declared: segment
        ),
        try HostMemory(state, of: loaded, at: facts.now)
      )
    }
    let gate = memory.gates.first { $0.host == facts.url.authority && facts.now < $0.until }
    guard let networkSegment = view.segments.first(where: { $0.name == segment.name }) else {
      return
    }
    facts.rules += networkSegment.rules.map(RuleVerdict.init)
    switch facts.decision {
    case .fetch, .update, .revalidate:
      if networkSegment.verdict.deferral != nil {
        facts.decision = .defer
        facts.reason = "\(facts.reason); \(networkSegment.verdictText)"
      } else if let gate {
        facts.decision = .defer
        facts.reason =
          "\(facts.reason); `\(gate.host)` asked us to wait until \(Timestamp.format(gate.until))"
      }
    case .keep, .remove, .defer, .fail:
      break
    }
  }

  private func add(
    _ record: ContentRecord?,
    from store: DiskStore?,
    to facts: inout ExplainFacts,
    _ locations: CacheLocations
  ) throws(CommandExit) {
    let state = try context.readingState(locations)
    if let record, let store {
      let holders = try context.reading { () throws(Failure) in
        try store.segmentsHolding(url: record.url).map(\.name)
      }
      let uses = try context.reading { () throws(Failure) in try state?.uses() ?? [:] }
      facts.segments = Set(facts.segments).union(holders).sorted()
      facts.item = CachedItem(
        record: record,
        segments: holders,
        isLocked: false,
        usedAt: uses[RememberedURL.name(of: record.url)],
        granted: facts.grants.map(\.lifetime),
        progress: facts.progress
      )
    }
    let url = facts.url.string
    facts.history = try context.reading { () throws(Failure) in
      try state?.history(url: url) ?? []
    }
  }
}

extension DeclaredItems.Declaration {
  fileprivate var headerVerdicts: [RuleVerdict] {
    var verdicts: [RuleVerdict] = []
    if !entry.headers.isEmpty {
      let names = entry.headers.map { "`\($0.name)`" }.joined(separator: ", ")
      verdicts.append(RuleVerdict("headers", .applies, "sends \(names)"))
    }
    if let withheld {
      let names = withheld.names.map { "`\($0)`" }.joined(separator: ", ")
      let verb = withheld.names.count == 1 ? "goes" : "go"
      verdicts.append(
        RuleVerdict("headers", .applies, "\(names) \(verb) to `\(withheld.host)` alone")
      )
    }
    return verdicts
  }
}
