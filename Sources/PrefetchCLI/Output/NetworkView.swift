import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct NetworkView {
  struct Segment {
    var name: String
    var verdict: NetworkVerdict
    var rules: [NetworkRuleVerdict]

    /// Verdict in words: `go`, or `deferred by window until …`.
    var verdictText: String {
      guard let deferral = verdict.deferral else { return verdict.word }
      return deferral.text()
    }
  }

  struct Quality {
    var level: NetworkQuality
    var rate: Int64?
    var reason: String
  }

  let situation: NetworkSituation
  let quality: Quality
  let quotas: [QuotaUsage]
  let segments: [Segment]

  /// Evaluates the rules; `looksAtAll` reads all facts, `declared` adds a segment's rules.
  init(
    context: CommandContext,
    loaded: LoadedConfiguration,
    state: StateStore?,
    looksAtAll: Bool,
    declared: SegmentDeclaration? = nil
  ) throws(Failure) {
    let now = context.clock.now().wall
    let configured = loaded.configuration.segments
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: context.environment.variables
    )
    let common = builder.network(
      publisher: context.publisherPolicy(loaded, in: state)?.networkOfRuns
    )
    let policies = configured.map { segment in
      let own =
        segment.name == declared?.name
        ? declared?.network : segment.network.map { builder.network($0, of: segment.name) }
      return (segment.name, own.map { common.narrowed(by: $0) } ?? common)
    }
    let needed = policies.reduce(into: common.aspects) { $0.formUnion($1.1.aspects) }
    let machine = MachineCircumstances(context: context, loaded: loaded) { state }
    let memory = try machine.memory()
    var situation = NetworkSituation()
    let aspects = looksAtAll ? Set(NetworkConditions.Aspect.allCases) : needed
    if !aspects.isEmpty { situation.conditions = machine.conditions(aspects) }
    situation.usage = memory.usage
    situation.samples = memory.samples
    let budgets = policies.flatMap(\.1.budgets).reduce(into: common.budgets) { all, budget in
      if !all.contains(budget) { all.append(budget) }
    }
    quotas = budgets.flatMap {
      QuotaUsage.all(of: $0, situation.usage, in: common.calendar, at: now)
    }
    segments = policies.map { name, policy in
      Segment(
        name: name,
        verdict: policy.verdict(in: situation, at: now),
        rules: policy.verdicts(in: situation, at: now)
      )
    }
    quality = Self.quality(common, situation, at: now)
    self.situation = situation
  }

  private static func quality(
    _ policy: NetworkPolicy,
    _ situation: NetworkSituation,
    at now: Instant
  ) -> Quality {
    guard policy.quality.isMeasured else {
      return Quality(level: .unknown, rate: nil, reason: "`network.quality` has no thresholds")
    }
    let measurement = situation.samples.measurement(of: situation.conditions.type, at: now)
    let rate = measurement?.rate
    let reason =
      rate.map { "\(Amounts.bytes($0))/s in recent transfers" }
      ?? (measurement == nil
        ? "nothing was transferred recently" : "only small bodies were transferred recently")
    return Quality(level: policy.quality(in: situation, at: now), rate: rate, reason: reason)
  }
}

struct QuotaUsage {
  var period: ByteBudget.Period
  /// Network type of the limit; nil for all types without their own.
  var type: NetworkType?
  var segment: String?
  var limit: Int64
  var used: Int64
  var renewal: Instant

  static func all(
    of budget: ByteBudget,
    _ usage: TransferUsage,
    in zone: TimeZoneRules,
    at now: Instant
  ) -> [QuotaUsage] {
    let day = TransferUsage.day(at: now, in: zone)
    let own = NetworkType.allCases.filter { budget.limits[$0] != nil }
    let types: [NetworkType?] = (budget.limit == nil ? [] : [nil]) + own
    return types.compactMap { type in
      guard let limit = budget.limit(over: type), limit < .max else { return nil }
      return QuotaUsage(
        period: budget.period,
        type: type,
        segment: budget.segment?.name,
        limit: limit,
        used: budget.used(usage, over: type, on: day),
        renewal: budget.renewal(after: now, in: zone)
      )
    }
  }

  var line: String {
    let network = type.map { " over \($0.rawValue)" } ?? ""
    let whose = segment.map { " of \(SafeText.line($0))" } ?? ""
    let amount = "\(Amounts.bytes(used)) of \(Amounts.bytes(limit))"
    let until = Timestamp.format(renewal)
    return "quota\t\(period.rawValue)\(network)\(whose)\t\(amount)\trenews \(until)"
  }

  var document: JSONValue {
    [
      "period": .string(period.rawValue),
      "network": .optional(type?.rawValue),
      "segment": .optional(segment),
      "limit": .integer(limit),
      "used": .integer(used),
      "remaining": .integer(max(0, limit - used)),
      "renews_at": .time(renewal),
    ]
  }
}
