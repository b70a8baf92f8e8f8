/// The rules of the network over a run: what they say of each segment now, and when to look again.
struct NetworkWatch: Sendable {
  /// Conditions are not read more often than this.
  static let interval: Duration = .seconds(5)
  /// So many transfers at once where the network is to be spared.
  static let throttledConcurrency = 2
  /// Bytes that may be lost to the books when the process is killed.
  private static let patience: Int64 = 1 << 20
  private static let leastPatience: Int64 = 1 << 14

  private(set) var aspects: Set<NetworkConditions.Aspect>
  private var policy: NetworkPolicy
  private var policies: [NetworkPolicy]
  private let keys: [SegmentKey]
  /// Whether a budget counts what comes.
  private(set) var keepsUsage: Bool
  private let keepsSamples: Bool
  private var hasItemRules: Bool
  /// Whether the calendar is the one that the configuration means.
  private var hasCalendar = false

  private(set) var situation: NetworkSituation
  private(set) var verdicts: [NetworkVerdict]
  /// Whether a budget of a segment is used up, whatever the verdict names.
  private(set) var isExhausted: [Bool]
  private var items = ItemVerdicts()
  private(set) var quality = NetworkQuality.unknown
  /// Whether anything was decided yet.
  private(set) var isReady = false
  /// Whether the conditions are being read.
  private(set) var isReading = false
  private var readAt: Duration?
  /// What is looked at by the last reading that was asked for, and by the last one that came.
  private var asked: Set<NetworkConditions.Aspect> = []
  private var known: Set<NetworkConditions.Aspect> = []
  /// What is not remembered for good yet.
  private var unrecorded = NetworkMemory()
  private var unrecordedBytes: Int64 = 0
  /// What progress told of transfers under way, so that their ends count the rest alone.
  private var counted: [TransferID: Int64] = [:]
  /// Bytes that may come before the verdicts have to be made anew.
  private var headroom = Int64.max
  /// The most bytes that a transfer of this run has received.
  private var largestTransfer: Int64 = 0
  /// The time by the calendar at which they have to be.
  private(set) var nextTurn: Instant?
  private var day: String?
  private var allowances: [ByteBudget: TransferRequest.Allowance] = [:]
  private var allowancePeriod: Period?
  private var allowanceCount = 0

  /// Nil where no rule forbids anything, so that nothing has to be asked.
  static func ifNeeded(_ request: RunRequest) -> NetworkWatch? {
    guard !request.policy.isOffline else { return nil }
    let watch = NetworkWatch(request)
    let isIdle =
      !watch.hasItemRules && watch.policy.isFree && watch.policies.allSatisfy(\.isFree)
    return isIdle ? nil : watch
  }

  init(_ request: RunRequest) {
    var common = request.policy.network
    var itemAspects: Set<NetworkConditions.Aspect> = []
    hasItemRules = false
    for segment in request.segments {
      guard case .inline(let entries) = segment.source else { continue }
      hasItemRules = hasItemRules || entries.value.hasNetworkRules
      itemAspects.formUnion(entries.value.networkAspects)
    }
    // What items say of hours is meant by the clock of the configuration.
    if hasItemRules, let calendar = request.policy.zone(nil) {
      hasCalendar = true
      common.calendar = calendar
    }
    let policies = request.segments.map { segment in
      segment.network.map { common.narrowed(by: $0) } ?? common
    }
    policy = common
    self.policies = policies
    keys = request.segments.map { SegmentKey(identity: request.identity, name: $0.name) }
    aspects = policies.reduce(into: common.aspects.union(itemAspects)) {
      $0.formUnion($1.aspects)
    }
    keepsUsage = !common.budgets.isEmpty || policies.contains { !$0.budgets.isEmpty }
    keepsSamples = common.quality.isMeasured || policies.contains { $0.quality.isMeasured }
    situation = NetworkSituation()
    verdicts = policies.map { _ in .go }
    isExhausted = policies.map { _ in false }
  }

  /// Takes in what a manifest asks; false where the conditions have to be read for it first.
  mutating func narrow(
    _ segment: Int,
    by rules: NetworkPolicy?,
    itemAspects: Set<NetworkConditions.Aspect>,
    zone: (String?) -> TimeZoneRules?
  ) -> Bool {
    if !hasCalendar {
      hasCalendar = true
      policy.calendar = zone(nil) ?? policy.calendar
      for index in policies.indices { policies[index].calendar = policy.calendar }
    }
    var needed = itemAspects
    if let rules {
      let own = rules.resolved(for: keys[segment], calendar: policy.calendar, zone: zone)
      policies[segment] = policies[segment].narrowed(by: own)
      needed.formUnion(own.aspects)
      keepsUsage = keepsUsage || !own.budgets.isEmpty
      areTurnsKnown = false
      items = ItemVerdicts()
    }
    aspects.formUnion(needed)
    return isReady && needed.isSubset(of: known)
  }

  var isThrottled: Bool {
    verdicts.contains(.throttle)
  }

  /// Whether the books have to be read with the conditions: other processes use up budgets, too.
  var needsMemory: Bool {
    !isReady || keepsUsage
  }

  /// Whether all was looked at that anything depends on by now.
  var knowsEnough: Bool {
    aspects.isSubset(of: known)
  }

  mutating func beginReading() {
    isReading = true
    asked = aspects
  }

  mutating func read(_ reading: ConditionsReading, at now: Moment) {
    situation.conditions = reading.conditions
    known = asked
    if let usage = reading.memory?.usage { _ = booked(usage) }
    if !isReady, let samples = reading.memory?.samples { situation.samples = samples }
    isReading = false
    readAt = now.uptime
  }

  /// Whether the conditions should be read again.
  func isDue(at now: Moment) -> Bool {
    guard !aspects.isEmpty, !isReading, let readAt else { return false }
    return now.uptime >= readAt + Self.interval
  }

  /// Whether the verdicts may not hold any more.
  func hasTurned(at now: Moment) -> Bool {
    headroom <= 0 || hasPassed(at: now)
  }

  /// The turn by the other clock, as it was when the verdicts were made.
  private(set) var turnUptime: Duration?
  private var areTurnsKnown = false

  /// By either clock, since one of them may be set.
  private func hasPassed(at now: Moment) -> Bool {
    nextTurn.map { $0 <= now.wall } ?? false || turnUptime.map { $0 <= now.uptime } ?? false
  }

  /// Makes the verdicts anew; true where the quality is another one.
  mutating func decide(at now: Moment) -> Bool {
    isReady = true
    verdicts = policies.map { $0.verdict(in: situation, at: now.wall) }
    isExhausted = policies.map { $0.isExhausted(in: situation, at: now.wall) }
    items.verdicts.removeAll(keepingCapacity: true)
    // Windows take some working out, and a verdict may be wanted after each transfer.
    if !areTurnsKnown || keepsSamples && turnUptime == nil || hasPassed(at: now) {
      let all = policies + items.policies.values
      nextTurn = all.compactMap { $0.nextTurn(in: situation, after: now.wall) }.min()
      turnUptime = nextTurn.map { now.uptime + ($0 - now.wall) }
      areTurnsKnown = true
    }
    // What has no headroom at all is deferred already and need not be looked at again.
    headroom =
      policies.compactMap { $0.headroom(in: situation, at: now.wall) }.filter { $0 > 0 }.min()
      ?? .max
    day = TransferUsage.day(at: now.wall, in: policy.calendar)
    let level = policy.quality(in: situation, at: now.wall)
    defer { quality = level }
    return level != quality
  }

  /// The verdict on an item that says more than its segment, by the number of what it says.
  mutating func verdict(
    of segment: Int,
    narrowedBy rules: NetworkPolicy,
    number: Int,
    zone: (String?) -> TimeZoneRules?,
    at now: Moment
  ) -> NetworkVerdict {
    let key = ItemVerdicts.Key(segment: segment, rules: number)
    if let verdict = items.verdicts[key] { return verdict }
    let policy = items.policies[key] ?? narrowed(segment, by: rules, zone: zone)
    let verdict = policy.verdict(in: situation, at: now.wall)
    items.verdicts[key] = verdict
    if items.policies.updateValue(policy, forKey: key) == nil,
      let turn = policy.nextTurn(in: situation, after: now.wall),
      nextTurn.map({ turn < $0 }) ?? true
    {
      nextTurn = turn
      turnUptime = now.uptime + (turn - now.wall)
    }
    return verdict
  }

  private func narrowed(
    _ segment: Int,
    by rules: NetworkPolicy,
    zone: (String?) -> TimeZoneRules?
  ) -> NetworkPolicy {
    var own = rules.resolved(for: keys[segment], calendar: policy.calendar, zone: zone)
    // A day's budget is none of a single item.
    own.budgets = []
    return policies[segment].narrowed(by: own)
  }

  // MARK: Allowances

  /// What a transfer of a segment may receive, together with all others under the same budgets.
  mutating func allowances(of segment: Int) -> [TransferRequest.Allowance] {
    guard keepsUsage, let day else { return [] }
    let period = Period(day: day, type: situation.conditions.type)
    if allowancePeriod != period {
      allowancePeriod = period
      allowances = [:]
    }
    return policies[segment].budgets.compactMap { budget in
      if let allowance = allowances[budget] { return allowance }
      let type = situation.conditions.type
      guard let bytes = budget.remaining(situation.usage, over: type, on: day),
        let whole = budget.limit(over: type)
      else { return nil }
      allowanceCount += 1
      let allowance = TransferRequest.Allowance(
        number: allowanceCount,
        bytes: bytes,
        whole: whole,
        period: budget.period
      )
      allowances[budget] = allowance
      return allowance
    }
  }

  /// How many transfers may be in flight.
  ///
  /// Under a limit of volume it is as many as can end within it, one at least. Otherwise all of them
  /// would be cut, in each period anew.
  var transferLimit: Int {
    guard keepsUsage, headroom < .max else { return .max }
    let expected =
      largestTransfer == 0 ? Self.firstTransfer : max(largestTransfer, Self.leastTransfer)
    return max(1, Int(clamping: headroom / expected))
  }

  /// The bytes that are expected of a transfer before any has ended.
  private static let firstTransfer: Int64 = 1 << 20
  private static let leastTransfer: Int64 = 64 << 10

  /// Counts anew from what is booked by then.
  mutating func renewAllowances() {
    allowancePeriod = nil
  }

  private struct Period: Hashable, Sendable {
    var day: String
    var type: NetworkType?
  }

  // MARK: Books

  /// Why a transfer of so many bytes would not begin or not end, after all that were foretold before
  /// it; nil where it would.
  ///
  /// One that would not uses up what is left, as it does when it breaks off. The read that uses up the
  /// rest may bring the end of the body.
  mutating func foretell(_ bytes: Int64, of segment: Int, at now: Moment) -> Deferral? {
    guard keepsUsage, let day else { return nil }
    let type = situation.conditions.type
    let left = policies[segment].budgets.compactMap {
      $0.remaining(situation.usage, over: type, on: day)
    }
    let key = TransferUsage.Key(day: day, type: type, segment: keys[segment])
    let rest = left.min() ?? .max
    let read = Int64(TransferRequest.Allowance.excess)
    let reach = rest > 0 ? (rest / read * read).addingSaturated(read) : 0
    let isWhole = rest > 0 && bytes <= reach
    situation.usage.add(isWhole ? bytes : min(bytes, rest), key)
    guard !isWhole else { return nil }
    return policies[segment].verdict(in: situation, at: now.wall).deferral
  }

  mutating func progressed(_ id: TransferID, bytes: Int64, of segment: Int) {
    guard keepsUsage else { return }
    counted[id, default: 0] += bytes
    book(bytes, of: segment)
  }

  /// True where the verdicts may have changed by it.
  mutating func finished(
    _ id: TransferID,
    _ result: TransferResult,
    of segment: Int,
    at now: Moment
  ) -> Bool {
    if keepsUsage {
      let told = counted.removeValue(forKey: id) ?? 0
      largestTransfer = max(largestTransfer, result.figures.wireBytes)
      book(max(0, result.figures.wireBytes - told), of: segment)
    }
    guard keepsSamples, let sample = sample(of: result, at: now) else { return false }
    situation.samples.note(sample)
    unrecorded.samples.note(sample)
    return true
  }

  private mutating func book(_ bytes: Int64, of segment: Int) {
    guard bytes > 0, let day else { return }
    let key = TransferUsage.Key(day: day, type: situation.conditions.type, segment: keys[segment])
    situation.usage.add(bytes, key)
    unrecorded.usage.add(bytes, key)
    unrecordedBytes += bytes
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

  /// Takes in what the books hold; true where others have received some of it.
  mutating func booked(_ usage: TransferUsage) -> Bool {
    let before = situation.usage
    var usage = usage
    usage.add(unrecorded.usage)
    situation.usage.raise(to: usage)
    guard situation.usage != before else { return false }
    renewAllowances()
    return true
  }

  /// What has to be kept for good now, if anything.
  mutating func unrecorded(isIdle: Bool) -> NetworkMemory? {
    // While the books are read the run writes nothing into them, so it is clear what they hold.
    guard !unrecorded.isEmpty, !isReading else { return nil }
    // Other runs hear of it by the books alone: the less is left, the sooner.
    let patience = min(Self.patience, max(Self.leastPatience, headroom / 16))
    guard isIdle || unrecordedBytes >= patience else { return nil }
    defer {
      unrecorded = NetworkMemory()
      unrecordedBytes = 0
    }
    return unrecorded
  }
}
