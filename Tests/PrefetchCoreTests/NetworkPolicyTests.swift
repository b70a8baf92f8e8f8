import PrefetchCore
import Testing

@Suite struct NetworkPolicyTests {
  private let noon = Instant(seconds: second("2026-11-20T12:00:00Z"))

  private func situation(
    _ type: NetworkType? = .ethernet,
    metered: Bool? = nil,
    mains: Bool? = nil,
    charge: Int? = nil
  ) -> NetworkSituation {
    var situation = NetworkSituation()
    situation.conditions.type = type
    situation.conditions.isMetered = metered
    situation.conditions.power = .init(isOnMains: mains, charge: charge, reason: "")
    return situation
  }

  private func policy(_ change: (inout NetworkPolicy) -> Void) -> NetworkPolicy {
    var policy = NetworkPolicy()
    change(&policy)
    return policy
  }

  @Test("A policy without rules allows everything and needs no facts")
  func free() {
    let policy = NetworkPolicy()
    #expect(policy.isFree)
    #expect(policy.aspects.isEmpty)
    #expect(policy.verdict(in: situation(nil), at: noon) == .allowed)
    #expect(policy.verdicts(in: situation(nil), at: noon).isEmpty)
  }

  @Test(
    "A rule about the kind of network defers other kinds",
    arguments: [
      ([.wifi], .wifi, true), ([.wifi], .ethernet, false), ([.wifi, .ethernet], .ethernet, true),
      ([.wifi], nil, false), ([], .ethernet, false), ([], nil, false), (nil, nil, true),
      (nil, .cellular, true),
    ] as [(Set<NetworkType>?, NetworkType?, Bool)]
  )
  func types(allowed: Set<NetworkType>?, type: NetworkType?, passes: Bool) {
    let policy = policy { $0.allowed = allowed }
    let verdict = policy.verdict(in: situation(type), at: noon)
    #expect(verdict == (passes ? .allowed : .deferred(Deferral(rule: .networkType))))
    #expect(policy.aspects == (allowed == nil ? [] : [.type]))
  }

  @Test(
    "A rule about metered networks defers on them",
    arguments: [
      (true, false, true, false), (true, false, false, true), (true, false, nil, true),
      (true, true, nil, false), (true, true, false, true), (false, true, nil, false),
      (false, true, true, true), (false, false, true, true),
    ] as [(Bool, Bool, Bool?, Bool)]
  )
  func metered(defers: Bool, defersUnknown: Bool, isMetered: Bool?, passes: Bool) {
    let policy = policy {
      $0.defersMetered = defers
      $0.defersUnknownMetered = defersUnknown
    }
    let verdict = policy.verdict(in: situation(metered: isMetered), at: noon)
    #expect(verdict == (passes ? .allowed : .deferred(Deferral(rule: .metered))))
  }

  @Test(
    "A rule about power defers without it",
    arguments: [
      (true, 0, true, 5, true), (true, 0, false, 100, false), (true, 0, nil, nil, false),
      (false, 30, false, 29, false), (false, 30, false, 30, true), (false, 30, true, 5, true),
      (false, 30, nil, nil, true), (true, 30, true, 10, true),
    ] as [(Bool, Int, Bool?, Int?, Bool)]
  )
  func power(needsMains: Bool, floor: Int, mains: Bool?, charge: Int?, passes: Bool) {
    let policy = policy {
      $0.needsMains = needsMains
      $0.batteryFloor = floor
    }
    let verdict = policy.verdict(in: situation(mains: mains, charge: charge), at: noon)
    #expect(verdict == (passes ? .allowed : .deferred(Deferral(rule: .power))))
  }

  @Test("A budget that renews while the windows are closed does not delay their opening")
  func together() throws {
    let window = try ClockWindow("13:00-14:00")
    let policy = policy {
      $0.hours = [OpeningHours(windows: [window], zone: .utc)]
      $0.budgets = [ByteBudget(period: .day, limit: 10)]
    }
    var situation = situation()
    situation.usage.add(10, key("2026-11-20"))
    let closed = policy.verdict(in: situation, at: noon)
    let tomorrow = Instant(seconds: second("2026-11-21T13:00:00Z"))
    #expect(closed == .deferred(Deferral(rule: .window, until: tomorrow)))
    let open = Instant(seconds: second("2026-11-20T13:30:00Z"))
    let used = policy.verdict(in: situation, at: open)
    #expect(used == .deferred(Deferral(rule: .dailyLimit, until: tomorrow)))
    // A known end is better than none, and another rule may still hold then.
    var strict = policy
    strict.allowed = [.wifi]
    #expect(
      strict.verdict(in: situation, at: noon)
        == .deferred(Deferral(rule: .networkType, until: tomorrow))
    )
    let rules = strict.verdicts(in: situation, at: noon).map(\.rule)
    #expect(rules == [.networkType, .window, .dailyLimit])
  }

  // MARK: Limits

  private let segment = SegmentKey(identity: "me", name: "basics")

  private func key(
    _ day: String,
    _ type: NetworkType? = .ethernet,
    _ segment: SegmentKey? = nil
  ) -> TransferUsage.Key {
    TransferUsage.Key(day: day, type: type, segment: segment ?? self.segment)
  }

  @Test("A daily limit counts its day, and a monthly one its month")
  func periods() throws {
    var usage = TransferUsage()
    usage.add(5, key("2026-11-19"))
    usage.add(7, key("2026-11-20"))
    usage.add(11, key("2026-10-20"))
    let day = ByteBudget(period: .day, limit: 10)
    let month = ByteBudget(period: .month, limit: 12)
    #expect(day.remaining(usage, over: .ethernet, on: "2026-11-20") == 3)
    #expect(month.remaining(usage, over: .ethernet, on: "2026-11-20") == 0)
    #expect(day.remaining(usage, over: .ethernet, on: "2026-11-21") == 10)
    #expect(month.remaining(usage, over: .ethernet, on: "2026-12-01") == 12)
  }

  @Test("A kind of network with its own limit counts separately")
  func byType() {
    let budget = ByteBudget(period: .day, limit: 100, limits: [.cellular: 10, .wifi: .max])
    var usage = TransferUsage()
    usage.add(10, key("2026-11-20", .cellular))
    usage.add(60, key("2026-11-20", .ethernet))
    usage.add(20, key("2026-11-20", nil))
    usage.add(5000, key("2026-11-20", .wifi))
    #expect(budget.remaining(usage, over: .cellular, on: "2026-11-20") == 0)
    #expect(budget.remaining(usage, over: .ethernet, on: "2026-11-20") == 20)
    #expect(budget.remaining(usage, over: nil, on: "2026-11-20") == 20)
    #expect(budget.remaining(usage, over: .wifi, on: "2026-11-20") == Int64.max - 5000)
    let onlyCellular = ByteBudget(period: .day, limit: nil, limits: [.cellular: 10])
    #expect(onlyCellular.remaining(usage, over: .ethernet, on: "2026-11-20") == nil)
  }

  @Test("A segment's own limit counts its own bytes")
  func bySegment() {
    let other = SegmentKey(identity: "me", name: "others")
    var usage = TransferUsage()
    usage.add(30, key("2026-11-20"))
    usage.add(40, key("2026-11-20", .ethernet, other))
    let own = ByteBudget(period: .day, limit: 50, segment: segment)
    #expect(own.used(usage, over: .ethernet, on: "2026-11-20") == 30)
    let all = ByteBudget(period: .day, limit: 50)
    #expect(all.used(usage, over: .ethernet, on: "2026-11-20") == 70)
  }

  @Test(
    "Periods change at local midnight",
    arguments: [
      (.day, TimeZoneTests.berlin, "2026-11-20T12:00:00Z", "2026-11-20T23:00:00Z"),
      (.day, TimeZoneTests.berlin, "2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z"),
      (.day, TimeZoneTests.berlin, "2026-10-25T00:30:00Z", "2026-10-25T23:00:00Z"),
      (.day, TimeZoneTests.berlin, "2026-03-29T00:30:00Z", "2026-03-29T22:00:00Z"),
      (.day, "EET-2EEST,M3.5.0/0,M10.5.0/0", "2026-03-28T12:00:00Z", "2026-03-28T22:00:00Z"),
      (.month, "UTC0", "2026-11-20T12:00:00Z", "2026-12-01T00:00:00Z"),
      (.month, "UTC0", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
      (.month, "UTC0", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
      (.month, TimeZoneTests.berlin, "2026-10-31T22:59:59Z", "2026-10-31T23:00:00Z"),
      (.month, "NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-11-30T10:59:59Z", "2026-11-30T11:00:00Z"),
    ] as [(ByteBudget.Period, String, String, String)]
  )
  func renewal(period: ByteBudget.Period, zone: String, now: String, expected: String) throws {
    let rules = try #require(TimeZoneRules(posix: zone))
    let budget = ByteBudget(period: period, limit: 1)
    let renewal = budget.renewal(after: Instant(seconds: second(now)), in: rules)
    #expect(Timestamp.format(renewal) == Timestamp.format(Instant(seconds: second(expected))))
    let days = [second(expected) - 1, second(expected)].map {
      TransferUsage.day(at: Instant(seconds: $0), in: rules)
    }
    #expect(days[0] != days[1])
  }

  // MARK: Narrowing

  @Test("Windows of several time zones must all be open, and one of an unknown zone never is")
  func clocks() throws {
    let east = try #require(TimeZoneRules(posix: "IST-5:30"))
    let zone = { (name: String) in name == "Asia/Kolkata" ? east : nil }
    let key = SegmentKey(identity: "me", name: "s")
    var rules = NetworkPolicy()
    rules.localHours = [
      LocalHours(windows: [try ClockWindow("17:00-18:00")], zone: "Asia/Kolkata")
    ]
    let noon = LocalHours(windows: [try ClockWindow("11:00-12:15")])
    let other = policy { $0.localHours = [noon] }
    let both = rules.narrowed(by: other).resolved(for: key, calendar: .utc, zone: zone)
    let verdicts = ["11:15", "11:45", "12:05", "12:20", "12:45"].map { time in
      let now = Instant(seconds: second("2026-11-20T\(time):00Z"))
      return both.verdict(in: situation(), at: now) == .allowed
    }
    #expect(verdicts == [false, true, true, false, false])
    rules.localHours[0].zone = "Europe/Nowhere"
    let unknown = rules.resolved(for: key, calendar: .utc, zone: zone)
    #expect(unknown.verdict(in: situation(), at: self.noon) == .deferred(Deferral(rule: .window)))
  }

  @Test("Narrowing keeps the stricter rule of either side")
  func narrowing() throws {
    let wide = policy {
      $0.allowed = [.wifi, .ethernet]
      $0.defersMetered = true
      $0.batteryFloor = 20
      $0.hours = [OpeningHours(windows: [], zone: .utc)]
      $0.quality.good = 100
      $0.quality.reactions = [.poor: .stop]
    }
    let narrow = policy {
      $0.allowed = [.ethernet, .cellular]
      $0.needsMains = true
      $0.batteryFloor = 10
      $0.budgets = [ByteBudget(period: .day, limit: 5)]
      $0.quality.good = 50
      $0.quality.reactions = [.poor: .go, .good: .throttle]
    }
    for result in [wide.narrowed(by: narrow), narrow.narrowed(by: wide)] {
      #expect(result.allowed == [.ethernet])
      #expect(result.defersMetered && result.needsMains && !result.defersUnknownMetered)
      #expect(result.batteryFloor == 20)
      #expect(result.hours.count == 1 && result.budgets.count == 1)
      #expect(result.quality.good == 100)
      #expect(result.quality.reactions == [.poor: .stop, .good: .throttle])
    }
    #expect(NetworkPolicy().narrowed(by: wide).allowed == wide.allowed)
  }
}
