package enum NetworkVerdict: Hashable, Sendable {
  case allowed
  case throttle
  case deferred(Deferral)

  package var deferral: Deferral? {
    guard case .deferred(let deferral) = self else { return nil }
    return deferral
  }
}

package struct NetworkRuleVerdict: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    case passes
    case throttles
    case defers(until: Instant?)
  }

  package var rule: Deferral.Rule
  package var decision: Decision
  package var reason: String

  package init(_ rule: Deferral.Rule, _ decision: Decision, _ reason: String) {
    self.rule = rule
    self.decision = decision
    self.reason = reason
  }
}

/// Facts for a decision about the network, without the rules.
package struct NetworkSituation: Hashable, Sendable {
  package var conditions = NetworkConditions()
  package var usage = TransferUsage()
  package var samples = TransferSamples()

  package init() {}
}

extension NetworkPolicy {
  /// Returns the decision; the first rule that defers names the deferral.
  package func verdict(in situation: NetworkSituation, at now: Instant) -> NetworkVerdict {
    let verdicts = verdicts(in: situation, at: now)
    let deferring = verdicts.compactMap { verdict -> (rule: Deferral.Rule, until: Instant?)? in
      guard case .defers(let until) = verdict.decision else { return nil }
      return (verdict.rule, until)
    }
    if let first = deferring.first {
      let lifted = deferring.compactMap(\.until).max()
      // A deferral that ends outside the windows lasts until they open.
      let until = lifted.map { hours.nextOpening(from: $0) ?? $0 }
      return .deferred(Deferral(rule: first.rule, until: until))
    }
    return verdicts.contains { $0.decision == .throttles } ? .throttle : .allowed
  }

  package func isExhausted(in situation: NetworkSituation, at now: Instant) -> Bool {
    headroom(in: situation, at: now) == 0
  }

  package func verdicts(in situation: NetworkSituation, at now: Instant) -> [NetworkRuleVerdict] {
    let conditions = situation.conditions
    return [
      featureVerdict, typeVerdict(conditions), meteredVerdict(conditions),
      powerVerdict(conditions.power),
      windowVerdict(at: now), qualityVerdict(situation, at: now),
    ].compactMap(\.self) + budgets.compactMap { budgetVerdict($0, situation, at: now) }
  }

  /// Returns the next moment at which another verdict may hold by time alone.
  package func nextChange(in situation: NetworkSituation, after now: Instant) -> Instant? {
    var changes = [hours.nextClosing(after: now)]
    changes += budgets.map { $0.renewal(after: now, in: calendar) }
    if quality.matters { changes.append(measurement(situation, at: now)?.expires) }
    return changes.compactMap(\.self).filter { now < $0 }.min()
  }

  package func quality(in situation: NetworkSituation, at now: Instant) -> NetworkQuality {
    quality.quality(measurement(situation, at: now))
  }

  /// Returns the bytes that may arrive before the next decision; nil for any number.
  package func headroom(in situation: NetworkSituation, at now: Instant) -> Int64? {
    let day = TransferUsage.day(at: now, in: calendar)
    return budgets.compactMap {
      $0.remaining(situation.usage, over: situation.conditions.type, on: day)
    }.min()
  }

  // MARK: Rule by rule

  private var featureVerdict: NetworkRuleVerdict? {
    guard isSwitchedOff else { return nil }
    return NetworkRuleVerdict(
      .features,
      .defers(until: nil),
      "the publisher has switched `precaching` off"
    )
  }

  private func typeVerdict(_ conditions: NetworkConditions) -> NetworkRuleVerdict? {
    guard let allowed else { return nil }
    let names = allowed.map(\.rawValue).sorted().joined(separator: ", ")
    let wanted = allowed.isEmpty ? "no network is allowed" : "allowed: \(names)"
    let seen = conditions.type?.rawValue ?? "unknown"
    let passes = conditions.type.map(allowed.contains) ?? false
    return NetworkRuleVerdict(
      .networkType,
      passes ? .passes : .defers(until: nil),
      "the network is \(seen) (\(conditions.typeReason)); \(wanted)"
    )
  }

  private func meteredVerdict(_ conditions: NetworkConditions) -> NetworkRuleVerdict? {
    guard defersMetered || defersUnknownMetered else { return nil }
    let (isDeferred, seen) =
      switch conditions.isMetered {
      case true?: (defersMetered, "metered")
      case false?: (false, "not metered")
      case nil: (defersUnknownMetered, "metered or not: unknown")
      }
    return NetworkRuleVerdict(
      .metered,
      isDeferred ? .defers(until: nil) : .passes,
      "\(seen) (\(conditions.meteredReason))"
    )
  }

  private func powerVerdict(_ power: NetworkConditions.Power) -> NetworkRuleVerdict? {
    guard needsMains || batteryFloor > 0 else { return nil }
    let lacksMains = needsMains && power.isOnMains != true
    let charge = power.charge ?? 100
    let isLow = power.isOnMains != true && charge < batteryFloor
    let wanted = [
      needsMains ? "mains power is needed" : nil,
      batteryFloor > 0 ? "on battery at least \(batteryFloor)% are needed" : nil,
    ]
    let seen = power.charge.map { "\(power.reason), \($0)%" } ?? power.reason
    return NetworkRuleVerdict(
      .power,
      lacksMains || isLow ? .defers(until: nil) : .passes,
      "\(seen); \(wanted.compactMap(\.self).joined(separator: "; "))"
    )
  }

  private func windowVerdict(at now: Instant) -> NetworkRuleVerdict? {
    guard !hours.isEmpty else { return nil }
    let names = hours.map { $0.windows.map(\.description).joined(separator: ", ") }
    let windows = names.joined(separator: " and ")
    guard !hours.areOpen(at: now) else {
      return NetworkRuleVerdict(.window, .passes, "open: \(windows)")
    }
    return NetworkRuleVerdict(
      .window,
      .defers(until: hours.nextOpening(from: now)),
      "closed: \(windows)"
    )
  }

  private func qualityVerdict(_ situation: NetworkSituation, at now: Instant) -> NetworkRuleVerdict?
  {
    guard quality.matters else { return nil }
    let measurement = measurement(situation, at: now)
    let level = quality.quality(measurement)
    let seen =
      measurement?.rate.map { "\(level.rawValue): \($0) bytes a second" } ?? level.rawValue
    let reaction = quality.reaction(to: level)
    let decision: NetworkRuleVerdict.Decision =
      switch reaction {
      case .go: .passes
      case .throttle: .throttles
      // Nothing is measured while nothing is transferred, so the measurement has to expire.
      case .stop: .defers(until: measurement?.expires)
      }
    return NetworkRuleVerdict(.quality, decision, "\(seen), so `\(reaction.rawValue)`")
  }

  private func budgetVerdict(
    _ budget: ByteBudget,
    _ situation: NetworkSituation,
    at now: Instant
  ) -> NetworkRuleVerdict? {
    let type = situation.conditions.type
    guard let limit = budget.limit(over: type) else { return nil }
    let day = TransferUsage.day(at: now, in: calendar)
    let used = budget.used(situation.usage, over: type, on: day)
    let period = budget.period == .day ? "today" : "this month"
    return NetworkRuleVerdict(
      .dailyLimit,
      used < limit ? .passes : .defers(until: budget.renewal(after: now, in: calendar)),
      "\(used) of \(limit) bytes used \(period)"
    )
  }

  private func measurement(
    _ situation: NetworkSituation,
    at now: Instant
  ) -> TransferSamples.Measurement? {
    guard quality.isMeasured else { return nil }
    return situation.samples.measurement(of: situation.conditions.type, at: now)
  }
}
