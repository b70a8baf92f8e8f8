import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct StatusCommand: Command {
  let context: CommandContext
  let options: StatusOptions

  private struct SegmentLine {
    var name: String
    var state: SegmentState?
    var items: Int
    var bytes: Int64
    var lastSuccess: Instant?
    var isRequired = true
    var brokeTrust = false
    var shard: String?
    var deferral: Deferral?
    /// Time at which a run next revalidates something; nil if every run does.
    var nextCheck: Instant?
    var trend = SegmentTrend(runs: [])
    var changedFiles: String?
    var loss: String?
    /// First failure of the last run.
    var reason: String?
    var waitsForDisk = false
    /// Whether no run of the segment has ended, though the first one may have begun.
    var isNew = false

    var health: SegmentHealth {
      SegmentHealth(
        name: name,
        state: isNew ? nil : state,
        lastSuccess: lastSuccess,
        changedFiles: changedFiles,
        loss: loss,
        reason: reason,
        waitsForDisk: waitsForDisk,
        isRequired: isRequired,
        brokeTrust: brokeTrust
      )
    }
  }

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    let store = try context.readingStore(locations)
    let now = context.clock.now().wall
    var segments: [SegmentLine] = []
    var totals = StoreTotals()
    // Without a configuration, the cache tells the identity, as for a mirror.
    var identity = loaded.identity
    if let store {
      let records = try context.reading { () throws(Failure) in try store.segments() }
      if loaded.files.isEmpty, let own = records.first?.key.identity { identity = own }
      let summary = try context.reading { () throws(Failure) in try store.summary() }
      totals = summary.totals
      segments = lines(records, summary.segments, of: loaded.files.isEmpty ? nil : loaded.identity)
    }
    let presence = try context.presence(loaded, locations, store)
    let state = try context.readingState(locations)
    let outcomes = try context.reading { () throws(Failure) in
      try state?.outcomes(of: loaded.files.isEmpty ? nil : loaded.identity) ?? [:]
    }
    let joined = try context.reading { () throws(Failure) in
      try Subscriptions.resolve(loaded, state: state, cache: locations.cache, mayWrite: false)
    }
    let folders = loaded.files.isEmpty ? nil : PublishingSetup.folders(loaded, joined)
    if !loaded.files.isEmpty {
      segments = subscribed(segments, joined, loaded)
    } else if context.namesMirror, segments.isEmpty, let first = outcomes.keys.sorted().first {
      // The index has no record of a mirror whose first run failed.
      identity = first.identity
      segments = [SegmentLine(name: first.name, items: 0, bytes: 0)]
    }
    for index in segments.indices {
      let key = SegmentKey(identity: identity, name: segments[index].name)
      guard let outcome = outcomes[key] else {
        segments[index].isNew = state != nil && segments[index].lastSuccess == nil
        continue
      }
      segments[index].brokeTrust = outcome.brokeTrust
      segments[index].reason = outcome.reason
      segments[index].waitsForDisk = outcome.deferral?.rule == .freeDisk
      // Only an index that has the segment can tell that it is current.
      if outcome.state != .current {
        segments[index].state = segments[index].state ?? outcome.state
      }
    }
    let changes = try context.reading { () throws(Failure) in
      try context.changedTrees(state, store, presence, locations, declared: folders)
    }
    for index in segments.indices {
      segments[index].changedFiles = changes.summary(of: segments[index].name)
      segments[index].loss = changes.loss(of: segments[index].name)
      // A segment that the last run left current is no longer whole.
      if segments[index].changedFiles != nil, segments[index].state == .current {
        segments[index].state = .incomplete
      }
    }
    if options.isForMonitoring {
      return try monitor(
        segments,
        identity,
        loaded,
        locations,
        state,
        presence,
        store,
        now: now
      )
    }
    if presence.hasCache || options.maximumAge == nil { context.report(presence, locations) }
    let license = try context.reading { () throws(Failure) -> LicenseStatus? in
      try registration(loaded, state)
    }
    let network = try context.reading { () throws(Failure) in
      try NetworkView(context: context, loaded: loaded, state: state, looksAtAll: false)
    }
    let quotas = network.quotas
    let deferrals = try context.reading { () throws(Failure) in
      try state?.deferrals(of: identity) ?? [:]
    }
    let trends = try context.reading { () throws(Failure) in
      try state?.segmentRuns(of: identity, atMost: SegmentTrend.mostRuns) ?? [:]
    }
    for index in segments.indices {
      segments[index].trend = SegmentTrend(runs: trends[segments[index].name] ?? [])
      // A deferral ends at its `until`.
      guard let deferral = deferrals[segments[index].name],
        deferral.until.map({ now < $0 }) ?? true
      else { continue }
      segments[index].deferral = deferral
    }
    if !loaded.files.isEmpty, let store {
      let checks = NextChecks(context: context, loaded: loaded, locations: locations, store: store)
      try setNextChecks(checks.of(Set(segments.map(\.name))), network, in: &segments)
    }
    let declared = try DeclaredStates(context, loaded, locations, store, collects: false)
    if let state {
      let holds = try context.reading { () throws(Failure) in
        try PublishedTrees.holds(in: state, declared: folders)
      }
      context.console.report(holds)
    }
    for segment in segments { context.console.report(changes.warnings(of: segment.name)) }
    if context.shared.isJSON {
      let served = try context.reading { () throws(Failure) in try state?.served() }
      print(segments, changes, license, totals, quotas, locations, declared, served, now: now)
    } else {
      for segment in segments { context.console.print(text(segment, now: now)) }
      if let license { context.console.print(text(license)) }
      for quota in quotas { context.console.print(quota.line) }
      for (kind, groups) in [("source", declared.sources), ("category", declared.categories)] {
        for group in groups.values.sorted(by: { $0.id < $1.id }) {
          context.console.print(text(group, kind))
        }
      }
      context.console.print(
        "cache  \(locations.cache)  \(Amounts.count(Int64(totals.objects), "object")), \(Amounts.bytes(totals.bytes))"
      )
    }
    return reportAges(of: segments, locations, presence, now: now)
  }

  /// Ends a health probe: with 3 if a required segment or the cache is missing or too old.
  private func reportAges(
    of segments: [SegmentLine],
    _ locations: CacheLocations,
    _ presence: StorePresence,
    now: Instant
  ) -> Int32 {
    guard let limit = options.maximumAge else { return ExitStatus.ok.code }
    guard presence.hasCache else {
      context.console.report(
        presence == .lost
          ? locations.lossOfCache(.error)
          : Diagnostic("status.no-cache", locations.missingCache)
      )
      return ExitStatus.incomplete.code
    }
    var status = ExitStatus.ok
    for segment in segments.filter(\.isRequired).map(\.health) {
      // Changed files have their own warning.
      if segment.changedFiles != nil { status = .incomplete }
      guard let complaint = segment.complaint(olderThan: limit, at: now) else { continue }
      context.console.report(
        Diagnostic(
          "status.too-old",
          "segment `\(segment.name)` \(complaint)",
          hint: context.namesMirror
            ? "mirror again, which shows what fails" : nil
        )
      )
      status = .incomplete
    }
    return status.code
  }

  private func monitor(
    _ segments: [SegmentLine],
    _ identity: String,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ state: StateStore?,
    _ presence: StorePresence,
    _ store: DiskStore?,
    now: Instant
  ) throws(CommandExit) -> Int32 {
    let line: MonitoringLine
    if let store, presence.hasCache {
      let runs = try context.reading { () throws(Failure) in
        try state?.runs(of: loaded.files.isEmpty ? nil : loaded.identity) ?? []
      }
      let health = try context.reading { () throws(Failure) in
        try explained(segments, identity, store, state, now: now)
      }
      line = MonitoringLine(
        health,
        brokeTrust: runs.last?.exitCode == Int(ExitStatus.trust.code),
        doubt: doubt(presence, locations),
        limits: options.ageLimits,
        at: now
      )
    } else {
      line = MonitoringLine(unknown: locations.missingCache)
    }
    context.console.print(line.line)
    return line.verdict.rawValue
  }

  /// Adds the reason to each segment that a run left incomplete and whose files are all there.
  private func explained(
    _ segments: [SegmentLine],
    _ identity: String,
    _ store: DiskStore,
    _ state: StateStore?,
    now: Instant
  ) throws(Failure) -> [SegmentHealth] {
    let records = try store.segments()
    var health = segments.map(\.health)
    for index in health.indices
    where health[index].state == .incomplete && health[index].changedFiles == nil {
      let key = SegmentKey(identity: identity, name: health[index].name)
      let record = records.first { $0.key == key }
      health[index].reason = try SegmentTrouble(
        of: key,
        list: record?.manifestURL,
        record,
        store,
        state
      ).text(now: now)
    }
    return health
  }

  private func doubt(_ presence: StorePresence, _ locations: CacheLocations) -> String? {
    if presence == .stateless { return locations.doubtWithoutState }
    return context.hasPrivateState(locations)
      ? "only the user of the runs may read the state: ask as that user" : nil
  }

  /// Sets the next checks; a deferral or a closed window outweighs the planned check.
  private func setNextChecks(
    _ checks: [String: Instant],
    _ network: NetworkView,
    in segments: inout [SegmentLine]
  ) {
    let openings = network.segments.reduce(into: [:]) { $0[$1.name] = $1.verdict.deferral?.until }
    for index in segments.indices {
      let name = segments[index].name
      segments[index].nextCheck =
        segments[index].deferral?.until ?? openings[name] ?? checks[name]
    }
  }

  private func subscribed(
    _ lines: [SegmentLine],
    _ joined: Subscriptions,
    _ loaded: LoadedConfiguration
  ) -> [SegmentLine] {
    let known = Dictionary(lines.map { ($0.name, $0) }) { first, _ in first }
    let optional = Set(
      loaded.configuration.segments.filter { !$0.declaration.isRequired }.map(\.name)
    )
    return joined.segments.map(\.name).map { name in
      var line = known[name] ?? SegmentLine(name: name, items: 0, bytes: 0)
      line.isRequired = !optional.contains(name)
      return line
    }
  }

  private func lines(
    _ records: [SegmentRecord],
    _ totals: [SegmentKey: SegmentTotals],
    of identity: String?
  ) -> [SegmentLine] {
    records.filter { identity == nil || $0.key.identity == identity }.map { record in
      SegmentLine(
        name: record.key.name,
        state: record.state,
        items: totals[record.key]?.items ?? 0,
        bytes: totals[record.key]?.bytes ?? 0,
        lastSuccess: record.lastSuccess,
        shard: record.shard
      )
    }
  }

  private func registration(
    _ loaded: LoadedConfiguration,
    _ state: StateStore?
  ) throws(Failure) -> LicenseStatus? {
    guard LicenseSetup(loaded) != nil else { return nil }
    let builder = context.builder(loaded)
    return try Registrar(context: context, loaded: loaded, builder: builder).remembered(state)
  }

  private func text(_ license: LicenseStatus) -> String {
    var parts = ["registration", license.word.rawValue.replacing("_", with: " ")]
    if let expires = license.expires { parts.append("until \(Timestamp.format(expires))") }
    if let until = license.deferral?.until {
      parts.append("next attempt after \(Timestamp.format(until))")
    }
    return parts.joined(separator: "  ")
  }

  private func text(_ segment: SegmentLine, now: Instant) -> String {
    let age = segment.lastSuccess.map { "\(Amounts.duration(now - $0)) ago" } ?? "never"
    let waits = segment.deferral.map { $0.text() }
    let check =
      segment.deferral == nil
      ? segment.nextCheck.map { "next check \(Timestamp.format($0))" } : nil
    return
      ([
        SafeText.line(segment.name), segment.state?.rawValue ?? "new",
        Amounts.count(Int64(segment.items), "item"), Amounts.bytes(segment.bytes), age,
      ]
      + [
        segment.shard.map { "shard \($0)" }, segment.changedFiles.map { "files: \($0)" }, waits,
        check, segment.trend.text,
      ].compactMap(\.self))
      .joined(separator: "\t")
  }

  private func text(_ group: DeclaredStates.Group, _ kind: String) -> String {
    let name = SafeText.line(group.name.map { "\(group.id) (\($0))" } ?? group.id)
    let items = Amounts.count(Int64(group.items), "item")
    return [kind, name, group.isOn ? "on" : "off", items, "\(group.stored) stored"]
      .joined(separator: "  ")
  }

  private func print(
    _ segments: [SegmentLine],
    _ changes: ChangedTrees,
    _ license: LicenseStatus?,
    _ totals: StoreTotals,
    _ quotas: [QuotaUsage],
    _ locations: CacheLocations,
    _ declared: DeclaredStates,
    _ served: ServeFigures?,
    now: Instant
  ) {
    let values = segments.map { segment -> JSONValue in
      [
        "name": .string(segment.name),
        "state": .optional(segment.state?.rawValue),
        "items": .integer(Int64(segment.items)),
        "bytes": .integer(segment.bytes),
        "last_success": .time(segment.lastSuccess),
        "age_seconds": .optional(segment.lastSuccess.map { (now - $0).milliseconds / 1000 }),
        "next_check": .time(segment.nextCheck),
        "deferred": .deferral(segment.deferral),
        "shard": .optional(segment.shard),
        "published_files": changes.document(of: segment.name),
        "recent": segment.trend.document,
        "states": states(declared.counts[segment.name] ?? [:]),
      ]
    }
    context.console.print([
      "schema": "prefetch-status/1",
      "segments": .array(values),
      "registration": .optional(license?.word.rawValue),
      "registration_expires": .time(license?.expires),
      "registration_retry_at": .time(license?.deferral?.until),
      "quotas": .array(quotas.map(\.document)),
      "cache": [
        "dir": .string(locations.cache),
        "bytes": .integer(totals.bytes),
        "objects": .integer(Int64(totals.objects)),
      ],
      "sources": DeclaredStates.document(declared.sources),
      "categories": DeclaredStates.document(declared.categories),
      "served": [
        "hits": .integer(served?.hits ?? 0), "misses": .integer(served?.misses ?? 0),
        "failures": .integer(served?.failures ?? 0), "bytes": .integer(served?.bytes ?? 0),
      ],
      "transfers": transfers(locations),
    ])
  }

  private func transfers(_ locations: CacheLocations) -> JSONValue {
    let values = TransferProgressFile.all(inCache: locations.cache).map { item -> JSONValue in
      [
        "url": .string(Redaction.url(item.url)),
        "segment": .string(item.segment),
        "bytes": .integer(item.bytes),
        "total": .optional(item.total),
        "rate": .optional(item.rate),
      ]
    }
    return .array(values)
  }

  private func states(_ counts: [ItemState: Int]) -> JSONValue {
    .object(
      ItemState.allCases.compactMap { state in
        counts[state].map { (state.rawValue, .integer(Int64($0))) }
      }
    )
  }
}
