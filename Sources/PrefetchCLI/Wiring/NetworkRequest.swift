import PrefetchConfig
import PrefetchCore

/// The network keys of a configuration as the policies that the core decides by.
struct NetworkRequest {
  let network: Network
  let identity: String
  let zone: @Sendable (String) -> TimeZoneRules?
  /// Of whoever gave the license.
  private let publisher: NetworkPolicy?
  /// Whether anybody asks when a day ends; else the zone is not even looked for.
  private let hasClock: Bool

  init(
    _ configuration: Configuration,
    identity: String,
    publisher: NetworkPolicy? = nil,
    zone: @escaping @Sendable (String) -> TimeZoneRules?
  ) {
    network = configuration.network
    self.identity = identity
    self.publisher = publisher
    self.zone = zone
    let none = TransferQuota()
    hasClock =
      publisher.map { !$0.localHours.isEmpty || !$0.budgets.isEmpty } ?? false
      || !network.windows.isEmpty || network.dailyLimit != none || network.monthlyLimit != none
      || configuration.segments.contains { segment in
        segment.network?.dailyLimit != nil || segment.network?.monthlyLimit != nil
      }
  }

  /// Puts the rules into effect for all that a request names.
  func apply(to request: inout RunRequest, of segments: [Segment]) {
    request.policy.network = policy
    let (zone, name) = (zone, network.timeZone)
    request.policy.zone = { zone($0 ?? name) }
    let rules = Dictionary(segments.map { ($0.name, $0) }) { first, _ in first }
    for index in request.segments.indices {
      let name = request.segments[index].name
      if let segment = rules[name] { apply(segment.urls, to: &request.segments[index]) }
      guard let own = rules[name]?.network else { continue }
      request.segments[index].network = policy(own, of: name)
      if let rate = own.rate?.amount {
        request.segments[index].rate = min(rate, request.segments[index].rate ?? rate)
      }
    }
  }

  /// Puts the rules of single items beside them.
  private func apply(_ declared: [InlineEntry], to segment: inout SegmentDeclaration) {
    let items = declared.compactMap { if case .item(let item) = $0 { item } else { nil } }
    guard items.contains(where: { $0.network != nil }), case .inline(let entries) = segment.source
    else { return }
    let rules = items.reduce(into: [WebURL: NetworkPolicy]()) { rules, item in
      guard let url = item.url, rules[url] == nil else { return }
      rules[url] = item.network.map { policy($0, of: nil) }
    }
    let ruled = entries.value.map { entry in
      var entry = entry
      entry.network = rules[entry.url]
      return entry
    }
    segment.source = .inline(ruled)
  }

  /// What holds for everything.
  var policy: NetworkPolicy {
    var policy = NetworkPolicy()
    policy.allowed = Self.types(network.allow)
    policy.defersMetered = network.metered == .defer
    policy.defersUnknownMetered = network.unknownMetered == .defer
    policy.needsMains = network.power == .ac
    policy.batteryFloor = network.batteryFloor
    policy.quality = Self.quality(network.quality)
    policy.budgets = [
      Self.budget(.day, network.dailyLimit), Self.budget(.month, network.monthlyLimit),
    ].compactMap(\.self)
    let zone = hasClock ? zone(network.timeZone) ?? .utc : .utc
    if !network.windows.isEmpty {
      policy.hours = [OpeningHours(windows: network.windows, zone: zone)]
    }
    policy.calendar = zone
    guard let publisher else { return policy }
    return policy.narrowed(by: publisher.resolved(calendar: zone, zone: self.zone))
  }

  /// What a segment asks beyond that.
  func policy(_ rules: NetworkRules, of segment: String?) -> NetworkPolicy {
    var policy = NetworkPolicy()
    policy.allowed = rules.allow.flatMap(Self.types)
    policy.defersMetered = rules.metered == .defer
    policy.defersUnknownMetered = rules.unknownMetered == .defer
    policy.needsMains = rules.power == .ac
    policy.batteryFloor = rules.batteryFloor ?? 0
    policy.quality = rules.quality.map(Self.quality) ?? QualityPolicy()
    if let segment {
      let key = SegmentKey(identity: identity, name: segment)
      policy.budgets = [
        rules.dailyLimit.flatMap { Self.budget(.day, $0, of: key) },
        rules.monthlyLimit.flatMap { Self.budget(.month, $0, of: key) },
      ].compactMap(\.self)
    }
    if let windows = rules.windows, !windows.isEmpty {
      let zone = zone(rules.timeZone ?? network.timeZone) ?? .utc
      policy.hours = [OpeningHours(windows: windows, zone: zone)]
    }
    return policy
  }

  private static func types(_ allowed: [Network.Allowed]) -> Set<NetworkType>? {
    guard !allowed.contains(.any) else { return nil }
    return Set(allowed.compactMap { NetworkType(rawValue: $0.rawValue) })
  }

  private static func quality(_ rules: QualityRules) -> QualityPolicy {
    var policy = QualityPolicy()
    policy.good = rules.good
    policy.excellent = rules.excellent
    for (name, reaction) in rules.on {
      guard let quality = NetworkQuality(rawValue: name) else { continue }
      policy.reactions[quality] = reaction
    }
    return policy
  }

  private static func budget(
    _ period: ByteBudget.Period,
    _ quota: TransferQuota,
    of segment: SegmentKey? = nil
  ) -> ByteBudget? {
    var limits: [NetworkType: Int64] = [:]
    // A kind without bounds is still one with a limit of its own.
    limits[.ethernet] = quota.ethernet.map { $0.amount ?? .max }
    limits[.wifi] = quota.wifi.map { $0.amount ?? .max }
    limits[.cellular] = quota.cellular.map { $0.amount ?? .max }
    let budget = ByteBudget(
      period: period,
      limit: quota.any.amount,
      limits: limits,
      segment: segment
    )
    return budget.isUnlimited ? nil : budget
  }
}
