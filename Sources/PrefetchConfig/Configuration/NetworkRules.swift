package import PrefetchCore
import PrefetchDocuments

/// Rules of the configuration, a segment or an item; each can only narrow the rules above it.
package struct NetworkRules: Hashable, Sendable {
  package enum Allowed: String, Hashable, Sendable, CaseIterable {
    case ethernet
    case wifi
    case cellular
    case any
    case none
  }

  package var allow: [Allowed]?
  package var defersMetered: Bool?
  package var defersUnknownMetered: Bool?
  package var windows: [ClockWindow]?
  package var timeZone: String?
  package var needsMains: Bool?
  package var batteryFloor: Int?
  /// Bytes per second; `Int64.max` means unlimited.
  package var rate: Int64?
  package var dailyLimit: ByteBudget?
  package var monthlyLimit: ByteBudget?
  package var quality: QualityPolicy?

  static var standard: Self {
    var rules = Self()
    rules.allow = [.any]
    rules.defersMetered = false
    rules.defersUnknownMetered = false
    rules.windows = []
    rules.timeZone = "local"
    rules.needsMains = false
    rules.batteryFloor = 0
    rules.dailyLimit = ByteBudget(period: .day, limit: nil)
    rules.monthlyLimit = ByteBudget(period: .month, limit: nil)
    rules.quality = QualityPolicy()
    return rules
  }

  package var policy: NetworkPolicy {
    var policy = NetworkPolicy()
    if let allow, !allow.contains(.any) {
      policy.allowed = Set(allow.compactMap { NetworkType(rawValue: $0.rawValue) })
    }
    policy.defersMetered = defersMetered ?? false
    policy.defersUnknownMetered = defersUnknownMetered ?? false
    policy.needsMains = needsMains ?? false
    policy.batteryFloor = batteryFloor ?? 0
    policy.budgets = [dailyLimit, monthlyLimit].compactMap(\.self).filter { !$0.isUnlimited }
    if let windows, !windows.isEmpty {
      policy.localHours = [LocalHours(windows: windows, zone: timeZone)]
    }
    policy.quality = quality ?? QualityPolicy()
    return policy
  }
}

extension NetworkRules {
  /// Keys of a segment or an item; a single item has neither a rate nor a budget.
  static let table = ObjectType(Self(), name: "network_rules") {
    Field("allow", \.allow, .list(of: .choice(), atLeast: 1))
      .help("Kinds of network to transfer over")
    Field("metered", \.defersMetered, .meteredUse)
      .help("Whether to transfer over a network that costs by volume")
    Field("unknown_metered", \.defersUnknownMetered, .meteredUse)
      .help("The same if the cost of the network is unknown")
    Field("windows", \.windows, .list(of: .window))
      .help("Times of day and week when transfers may run")
    Field("timezone", \.timeZone, .timeZone).help("Time zone of `windows`")
    Field("power", \.needsMains, .power).help("Power source that transfers need")
    Field("battery_floor", \.batteryFloor, .integer(0...100))
      .help("Battery charge in percent below which transfers wait")
    Field("rate", \.rate, .rateLimit).help("Most bytes a second")
    Field("daily_limit", \.dailyLimit, ByteBudget.daily).help("Most bytes a day")
    Field("monthly_limit", \.monthlyLimit, ByteBudget.monthly).help("Most bytes a month")
    Field("quality", \.quality, QualityPolicy.table)
      .help("What to do when the measured throughput falls")
  }
}

extension ByteBudget {
  static let daily = table(of: .day)
  static let monthly = table(of: .month)

  private static func table(of period: Period) -> ObjectType<Self> {
    ObjectType(Self(period: period, limit: nil), name: "quota", shorthand: "any") {
      Field("any", \.limit, .sizeBound)
        .help("Most bytes over all kinds of network without their own limit")
      Field("ethernet", \.limits[.ethernet], .sizeLimit).help("Most bytes over a cable")
      Field("wifi", \.limits[.wifi], .sizeLimit).help("Most bytes over a wireless network")
      Field("cellular", \.limits[.cellular], .sizeLimit).help("Most bytes over a cellular network")
    }
  }
}

extension QualityPolicy {
  static let table = ObjectType(Self(), name: "quality") {
    Field("good", \.good, .rate).help("Lowest throughput of a good network")
    Field("excellent", \.excellent, .rate).help("Lowest throughput of an excellent network")
    Field(
      "on",
      \.named,
      .map(of: .oneOf("quality", NetworkQuality.allCases.map(\.rawValue)), to: .choice())
    )
    .help("What to do at each quality; the default is `go`")
  }
  .checking { rules, facts, decoder in
    guard let good = rules.good, let excellent = rules.excellent, good > excellent else { return }
    decoder.report(
      "config.bad-value",
      "`good` is faster than `excellent`",
      at: facts.keyNode(of: "good")
    )
  }

  private var named: [String: Reaction] {
    get { Dictionary(uniqueKeysWithValues: reactions.map { ($0.key.rawValue, $0.value) }) }
    set {
      reactions = [:]
      for (name, reaction) in newValue {
        if let quality = NetworkQuality(rawValue: name) { reactions[quality] = reaction }
      }
    }
  }
}

extension ValueType where Value == Bool {
  /// Whether to defer: `use` or `defer`; manifests also write `true` and `false`.
  fileprivate static var meteredUse: Self {
    let words = Self.metered
    return Self(
      shape: words.shape.changing { $0.acceptingBooleans },
      decode: { node, decoder in
        if let scalar = node.scalar, scalar.kind != .string,
          let isUsed = Booleans.strictValue(of: scalar.text)
        {
          return !isUsed
        }
        return words.decode(node, &decoder)
      },
      encode: words.encode
    )
  }

  static var metered: Self { .words(("use", false), ("defer", true)) }

  static var power: Self { .words(("any", false), ("ac", true)) }
}

extension ValueType where Value == ClockWindow {
  static var window: Self {
    scalar(
      "a window such as `22:00-06:00`",
      summary: "window",
      schema: .pattern(Pattern.window, "window"),
      code: "config.bad-clock"
    ) { text throws(ValueComplaint) in
      do throws(ClockWindow.Malformed) {
        return try ClockWindow(text)
      } catch {
        throw ValueComplaint(error.message, hint: error.hint, code: "config.bad-clock")
      }
    } encode: {
      .string($0.description)
    }
  }
}

extension ValueType where Value == String {
  static var timeZone: Self {
    scalar(
      "a time zone such as `Europe/Berlin`",
      summary: "time zone",
      schema: .pattern(Pattern.timeZone, "time_zone").acceptingBooleans,
      code: "config.bad-clock"
    ) { text throws(ValueComplaint) in
      guard TimeZoneRules.isName(text) else {
        throw ValueComplaint(
          "`\(text)` is not a time zone",
          hint: "write `local`, `UTC` or `Area/City`"
        )
      }
      return text
    } encode: {
      .string($0)
    }
  }
}
