import PrefetchCore
import Testing

@testable import PrefetchCore

/// Verdicts of the network rules during a run, without a dispatcher.
@Suite("The watch over the network")
struct NetworkWatchTests {
  private static func moment(_ seconds: Int64) -> Moment {
    Moment(wall: Instant(seconds: seconds), uptime: .seconds(seconds))
  }

  private static func request(
    segments: Int = 1,
    _ rules: (inout NetworkPolicy) -> Void
  ) -> RunRequest {
    var policy = RunPolicy()
    rules(&policy.network)
    let declarations = (0..<segments).map {
      SegmentDeclaration(name: "s\($0)", source: .inline(Shared(EntryTable())))
    }
    return RunRequest(mode: .run, identity: "me", segments: declarations, policy: policy)
  }

  private static func reading(
    _ type: NetworkType? = nil,
    isMetered: Bool? = nil,
    received: Int64 = 0
  ) -> ConditionsReading {
    var conditions = NetworkConditions()
    conditions.type = type
    conditions.isMetered = isMetered
    var memory = NetworkMemory()
    if received > 0 {
      let key = TransferUsage.Key(
        day: "1970-01-01",
        type: type,
        segment: SegmentKey(identity: "me", name: "s0")
      )
      memory.usage.add(received, key)
    }
    return ConditionsReading(conditions, memory: memory)
  }

  /// Returns a watch that has read the machine's conditions and decided.
  private static func watch(
    _ reading: ConditionsReading,
    at now: Moment = moment(0),
    _ rules: (inout NetworkPolicy) -> Void
  ) throws -> NetworkWatch {
    var watch = try #require(NetworkWatch.ifNeeded(request(rules)))
    watch.beginReading()
    watch.read(reading, at: now)
    _ = watch.decide(at: now)
    return watch
  }

  @Test("A watch over the network exists only with a rule, and not for an offline run")
  func idle() {
    #expect(NetworkWatch.ifNeeded(Self.request { _ in }) == nil)
    var request = Self.request { $0.defersMetered = true }
    #expect(NetworkWatch.ifNeeded(request) != nil)
    request.policy.isOffline = true
    #expect(NetworkWatch.ifNeeded(request) == nil)
  }

  @Test(
    "Each condition of the network has its verdict",
    arguments: [
      (.wifi, false, nil), (.cellular, false, .networkType), (.wifi, true, .metered),
      (nil, false, .networkType),
    ] as [(NetworkType?, Bool, Deferral.Rule?)]
  )
  func conditions(type: NetworkType?, isMetered: Bool, rule: Deferral.Rule?) throws {
    let watch = try Self.watch(Self.reading(type, isMetered: isMetered)) {
      $0.allowed = [.wifi]
      $0.defersMetered = true
    }
    #expect(watch.verdicts.map { $0.deferral?.rule } == [rule])
    #expect(watch.readings.areEnough && watch.isReady)
  }

  @Test("The network is read again after a while, and not during a reading")
  func readings() throws {
    var watch = try Self.watch(Self.reading(.wifi)) { $0.allowed = [.wifi] }
    #expect(!watch.readings.areDue(at: .seconds(4)) && watch.readings.areDue(at: .seconds(5)))
    watch.beginReading()
    #expect(watch.isReading && !watch.readings.areDue(at: .seconds(60)))
    #expect(watch.unrecorded(isIdle: true) == nil)
  }

  @Test("A budget is used by received bytes and by those of other runs")
  func budget() throws {
    let budget = ByteBudget(period: .day, limit: 1_000)
    var watch = try Self.watch(Self.reading(received: 300)) { $0.budgets = [budget] }
    #expect(watch.verdicts == [.allowed] && watch.isExhausted == [false] && watch.needsMemory)
    let allowances = watch.allowances(of: 0)
    #expect(allowances.count == 1)
    watch.progressed(TransferID(1), bytes: 400, of: 0)
    #expect(!watch.isRenewalDue(at: Self.moment(1)))
    let result = TransferResult(
      .failure(Failure(.reset, "")),
      figures: Self.figures(received: 700)
    )
    _ = watch.finished(TransferID(1), result, of: 0, at: Self.moment(2))
    #expect(watch.isRenewalDue(at: Self.moment(2)))
    _ = watch.decide(at: Self.moment(2))
    #expect(watch.isExhausted == [true] && watch.verdicts[0].deferral?.rule == .dailyLimit)
    let (first, second) = (watch.unrecorded(isIdle: true), watch.unrecorded(isIdle: true))
    #expect(first?.isEmpty == false && second == nil)
    // A day later the budget starts again.
    #expect(watch.isRenewalDue(at: Self.moment(90_000)))
    _ = watch.decide(at: Self.moment(90_000))
    #expect(watch.verdicts == [.allowed])
  }

  private static func figures(received: Int64) -> TransferFigures {
    var figures = TransferFigures()
    figures.wireBytes = received
    return figures
  }

  @Test("A predicted transfer counts for later predictions")
  func predictedDeferrals() throws {
    let budget = ByteBudget(period: .day, limit: 1 << 20)
    var watch = try Self.watch(Self.reading()) { $0.budgets = [budget] }
    #expect(watch.predictDeferral(1 << 19, of: 0, at: Self.moment(0)) == nil)
    #expect(watch.predictDeferral(1 << 22, of: 0, at: Self.moment(0))?.rule == .dailyLimit)
    // A transfer that cannot finish uses up the remaining budget.
    #expect(watch.predictDeferral(1, of: 0, at: Self.moment(0))?.rule == .dailyLimit)
  }

  @Test("A manifest with further rules waits until the network was read for them")
  func narrowing() throws {
    var watch = try Self.watch(Self.reading(.wifi)) { $0.allowed = [.wifi, .cellular] }
    var more = NetworkPolicy()
    more.defersMetered = true
    let isKnown = watch.narrow(0, by: more, itemAspects: [], zone: { _ in nil })
    #expect(!isKnown && !watch.readings.areEnough)
    watch.beginReading()
    watch.read(Self.reading(.wifi, isMetered: true), at: Self.moment(1))
    _ = watch.decide(at: Self.moment(1))
    #expect(watch.readings.areEnough && watch.verdicts[0].deferral?.rule == .metered)
    let needsNoMore = watch.narrow(0, by: nil, itemAspects: [], zone: { _ in nil })
    #expect(needsNoMore)
  }
}
