/// Network rules of a run: the verdict on each segment, and when to decide again.
struct NetworkWatch: Sendable {
  /// Limit of transfers in flight under the verdict `throttle`.
  static let throttledConcurrency = 2

  private var rules: Rules
  private(set) var readings = ConditionsReadings()
  private(set) var keepsUsage: Bool
  private let keepsSamples: Bool

  private(set) var situation = NetworkSituation()
  private(set) var verdicts: [NetworkVerdict]
  private(set) var isExhausted: [Bool]
  private var items = ItemVerdicts()
  private(set) var quality = NetworkQuality.unknown
  private(set) var isReady = false
  private(set) var renewal = Renewal()
  private var unrecordedUsage = UnrecordedUsage()
  private var allowances = AllowanceTable()
  /// Bytes that may be received before the verdicts must be renewed.
  private var headroom = Int64.max
  private var day: String?

  private struct Rules: Sendable {
    var common: NetworkPolicy
    var ofSegments: [NetworkPolicy]
    let keys: [SegmentKey]
    let haveItemsOwn: Bool
    var hasCalendar = false
  }

  /// Next time to renew the verdicts, on both clocks, since the wall clock may be set.
  struct Renewal: Sendable {
    fileprivate(set) var next: Instant?
    fileprivate(set) var uptime: Duration?
    fileprivate var isKnown = false

    fileprivate func hasPassed(at now: Moment) -> Bool {
      next.map { $0 <= now.wall } ?? false || uptime.map { $0 <= now.uptime } ?? false
    }

    fileprivate mutating func set(_ instant: Instant?, at now: Moment) {
      next = instant
      uptime = instant.map { now.uptime + ($0 - now.wall) }
    }
  }

  static func ifNeeded(_ request: RunRequest) -> NetworkWatch? {
    guard !request.policy.isOffline else { return nil }
    let watch = NetworkWatch(request)
    let isIdle =
      !watch.rules.haveItemsOwn && watch.rules.common.isFree
      && watch.rules.ofSegments.allSatisfy(\.isFree)
    return isIdle ? nil : watch
  }

  init(_ request: RunRequest) {
    var common = request.policy.network
    var itemAspects: Set<NetworkConditions.Aspect> = []
    var haveItemsOwn = false
    var hasCalendar = false
    for segment in request.segments {
      guard case .inline(let entries) = segment.source else { continue }
      haveItemsOwn = haveItemsOwn || entries.value.hasNetworkRules
      itemAspects.formUnion(entries.value.networkAspects)
    }
    // Time windows of items use the time zone of the configuration.
    if haveItemsOwn, let calendar = request.policy.zone(nil) {
      hasCalendar = true
      common.calendar = calendar
    }
    let policies = request.segments.map { segment in
      segment.network.map { common.narrowed(by: $0) } ?? common
    }
    rules = Rules(
      common: common,
      ofSegments: policies,
      keys: request.segments.map { SegmentKey(identity: request.identity, name: $0.name) },
      haveItemsOwn: haveItemsOwn,
      hasCalendar: hasCalendar
    )
    readings.aspects = policies.reduce(into: common.aspects.union(itemAspects)) {
      $0.formUnion($1.aspects)
    }
    keepsUsage = !common.budgets.isEmpty || policies.contains { !$0.budgets.isEmpty }
    keepsSamples = common.quality.isMeasured || policies.contains { $0.quality.isMeasured }
    verdicts = policies.map { _ in .allowed }
    isExhausted = policies.map { _ in false }
  }

  /// Adds the rules of a manifest; returns false if conditions must be read for them first.
  mutating func narrow(
    _ segment: Int,
    by more: NetworkPolicy?,
    itemAspects: Set<NetworkConditions.Aspect>,
    zone: (String?) -> TimeZoneRules?
  ) -> Bool {
    if !rules.hasCalendar {
      rules.hasCalendar = true
      let calendar = zone(nil) ?? rules.common.calendar
      rules.common.calendar = calendar
      for index in rules.ofSegments.indices { rules.ofSegments[index].calendar = calendar }
    }
    var needed = itemAspects
    if let more {
      let own = more.resolved(
        for: rules.keys[segment],
        calendar: rules.common.calendar,
        zone: zone
      )
      rules.ofSegments[segment] = rules.ofSegments[segment].narrowed(by: own)
      needed.formUnion(own.aspects)
      keepsUsage = keepsUsage || !own.budgets.isEmpty
      renewal.isKnown = false
      items = ItemVerdicts()
    }
    readings.aspects.formUnion(needed)
    return isReady && needed.isSubset(of: readings.known)
  }

  func limitsVolume(of segment: Int) -> Bool {
    !rules.ofSegments[segment].budgets.isEmpty
  }

  var isThrottled: Bool {
    verdicts.contains(.throttle)
  }

  /// Whether the usage must be read with the conditions, since other processes use the budgets too.
  var needsMemory: Bool {
    !isReady || keepsUsage
  }

  var isReading: Bool {
    readings.isReading
  }

  mutating func beginReading() {
    readings.begin()
  }

  mutating func read(_ reading: ConditionsReading, at now: Moment) {
    situation.conditions = reading.conditions
    if let usage = reading.memory?.usage { _ = usageRecorded(usage) }
    if !isReady, let samples = reading.memory?.samples { situation.samples = samples }
    readings.end(at: now.uptime)
  }

  func isRenewalDue(at now: Moment) -> Bool {
    headroom <= 0 || renewal.hasPassed(at: now)
  }

  mutating func decide(at now: Moment) -> Bool {
    isReady = true
    verdicts = rules.ofSegments.map { $0.verdict(in: situation, at: now.wall) }
    isExhausted = rules.ofSegments.map { $0.isExhausted(in: situation, at: now.wall) }
    items.verdicts.removeAll(keepingCapacity: true)
    // Time windows are costly to evaluate, and a verdict may be needed after each transfer.
    if !renewal.isKnown || keepsSamples && renewal.uptime == nil || renewal.hasPassed(at: now) {
      let all = rules.ofSegments + items.policies.values
      renewal.set(all.compactMap { $0.nextChange(in: situation, after: now.wall) }.min(), at: now)
      renewal.isKnown = true
    }
    // A segment without headroom is deferred already.
    headroom =
      rules.ofSegments.compactMap { $0.headroom(in: situation, at: now.wall) }
      .filter { $0 > 0 }.min() ?? .max
    day = TransferUsage.day(at: now.wall, in: rules.common.calendar)
    let level = rules.common.quality(in: situation, at: now.wall)
    defer { quality = level }
    return level != quality
  }

  mutating func verdict(
    of segment: Int,
    narrowedBy own: NetworkPolicy,
    number: Int,
    zone: (String?) -> TimeZoneRules?,
    at now: Moment
  ) -> NetworkVerdict {
    let key = ItemVerdicts.Key(segment: segment, rules: number)
    if let verdict = items.verdicts[key] { return verdict }
    let policy = items.policies[key] ?? narrowed(segment, by: own, zone: zone)
    let verdict = policy.verdict(in: situation, at: now.wall)
    items.verdicts[key] = verdict
    if items.policies.updateValue(policy, forKey: key) == nil,
      let change = policy.nextChange(in: situation, after: now.wall),
      renewal.next.map({ change < $0 }) ?? true
    {
      renewal.set(change, at: now)
    }
    return verdict
  }

  private func narrowed(
    _ segment: Int,
    by more: NetworkPolicy,
    zone: (String?) -> TimeZoneRules?
  ) -> NetworkPolicy {
    var own = more.resolved(for: rules.keys[segment], calendar: rules.common.calendar, zone: zone)
    // Budgets do not apply to single items.
    own.budgets = []
    return rules.ofSegments[segment].narrowed(by: own)
  }

  // MARK: Allowances

  /// Returns the byte allowances of a transfer, which all transfers under the same budgets share.
  mutating func allowances(of segment: Int) -> [TransferRequest.Allowance] {
    guard keepsUsage, let day else { return [] }
    return allowances.of(
      rules.ofSegments[segment].budgets,
      after: situation.usage,
      on: day,
      over: situation.conditions.type
    )
  }

  /// Limit of transfers in flight: as many as can end within the budgets, but at least one.
  var transferLimit: Int {
    guard keepsUsage, headroom < .max else { return .max }
    return max(1, Int(clamping: headroom / unrecordedUsage.expectedTransfer))
  }

  mutating func renewAllowances() {
    allowances.renew()
  }

  // MARK: Usage

  /// Returns why a transfer would exceed the budgets; nil if it fits.
  mutating func predictDeferral(_ bytes: Int64, of segment: Int, at now: Moment) -> Deferral? {
    guard keepsUsage, let day else { return nil }
    let type = situation.conditions.type
    let left = rules.ofSegments[segment].budgets.compactMap {
      $0.remaining(situation.usage, over: type, on: day)
    }
    let key = TransferUsage.Key(day: day, type: type, segment: rules.keys[segment])
    let rest = left.min() ?? .max
    let read = Int64(TransferRequest.Allowance.excess)
    let reach = rest > 0 ? (rest / read * read).addingSaturated(read) : 0
    let isWhole = rest > 0 && bytes <= reach
    situation.usage.add(isWhole ? bytes : min(bytes, rest), key)
    guard !isWhole else { return nil }
    return rules.ofSegments[segment].verdict(in: situation, at: now.wall).deferral
  }

  mutating func progressed(_ id: TransferID, bytes: Int64, of segment: Int) {
    guard keepsUsage else { return }
    unrecordedUsage.progressed(id, bytes)
    recordUsage(bytes, of: segment)
  }

  mutating func finished(
    _ id: TransferID,
    _ result: TransferResult,
    of segment: Int,
    at now: Moment
  ) -> Bool {
    if keepsUsage {
      recordUsage(unrecordedUsage.rest(of: id, result.figures.wireBytes), of: segment)
    }
    guard keepsSamples, let sample = sample(of: result, at: now) else { return false }
    situation.samples.add(sample)
    unrecordedUsage.recordSample(sample)
    return true
  }

  private mutating func recordUsage(_ bytes: Int64, of segment: Int) {
    guard bytes > 0, let day else { return }
    let type = situation.conditions.type
    let key = TransferUsage.Key(day: day, type: type, segment: rules.keys[segment])
    situation.usage.add(bytes, key)
    unrecordedUsage.add(bytes, key)
    headroom = headroom.addingSaturated(-bytes)
  }

  private func sample(of result: TransferResult, at now: Moment) -> TransferSamples.Sample? {
    guard case .success = result.outcome, let total = result.figures.total else { return nil }
    let bytes = result.figures.wireBytes
    return TransferSamples.Sample(
      type: situation.conditions.type,
      began: now.wall + (.zero - total),
      ended: now.wall,
      bytes: bytes >= TransferSamples.smallestBody ? bytes : 0,
      firstByte: result.figures.firstByte
    )
  }

  mutating func usageRecorded(_ usage: TransferUsage) -> Bool {
    let before = situation.usage
    var usage = usage
    usage.add(unrecordedUsage.memory.usage)
    situation.usage.raise(to: usage)
    guard situation.usage != before else { return false }
    renewAllowances()
    return true
  }

  mutating func unrecorded(isIdle: Bool) -> NetworkMemory? {
    // The run writes no usage during a reading, so that it is clear what the reading contains.
    guard !isReading else { return nil }
    // Other runs see stored usage only: the less headroom is left, the sooner it is stored.
    return unrecordedUsage.drain(isIdle: isIdle, headroom: headroom)
  }
}
