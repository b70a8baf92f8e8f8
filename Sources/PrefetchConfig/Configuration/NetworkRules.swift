package import PrefetchCore
import PrefetchDocuments

/// What one segment or item asks of the network beyond what holds for all; it can only narrow that.
package struct NetworkRules: Hashable, Sendable {
  package var allow: [Network.Allowed]?
  package var metered: Network.MeteredUse?
  package var unknownMetered: Network.MeteredUse?
  package var windows: [ClockWindow]?
  package var timeZone: String?
  package var power: Network.Power?
  package var batteryFloor: Int?
  package var rate: RateLimit?
  package var dailyLimit: TransferQuota?
  package var monthlyLimit: TransferQuota?
  package var quality: QualityRules?

  static let table = ObjectType(Self(), name: "network_rules") {
    Field("allow", \.allow, .list(of: .choice(), atLeast: 1), "Kinds of network to transfer over")
    Field(
      "metered",
      \.metered,
      .meteredUse,
      "Whether to transfer over a connection that costs by volume"
    )
    Field(
      "unknown_metered",
      \.unknownMetered,
      .meteredUse,
      "The same where nothing says whether it costs"
    )
    Field(
      "windows",
      \.windows,
      .list(of: .window),
      "Times of day and week in which transfers may run"
    )
    Field("timezone", \.timeZone, .timeZone, "Time zone of `windows`")
    Field("power", \.power, .choice(), "Power source needed to transfer")
    Field(
      "battery_floor",
      \.batteryFloor,
      .integer(0...100),
      "Percent of charge below which nothing is transferred on battery"
    )
    Field("rate", \.rate, .rateLimit, "Bytes a second")
    Field("daily_limit", \.dailyLimit, TransferQuota.table, "Bytes a day")
    Field("monthly_limit", \.monthlyLimit, TransferQuota.table, "Bytes a month")
    Field("quality", \.quality, QualityRules.table, "What to do as the measured throughput falls")
  }
}

extension ValueType where Value == Network.MeteredUse {
  /// `use` or `defer`; manifests also write `true` and `false`.
  static var meteredUse: Self {
    let type = ValueType<Network.MeteredUse>.choice()
    return Self(
      shape: type.shape,
      decode: { node, decoder in
        if let scalar = node.scalar, scalar.kind != .string,
          let isUsed = Booleans.strictValue(of: scalar.text)
        {
          return isUsed ? .use : .defer
        }
        return type.decode(node, &decoder)
      },
      encode: type.encode
    )
  }
}
