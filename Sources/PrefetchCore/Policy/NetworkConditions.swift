/// The kind of connection the machine has.
package enum NetworkType: String, Hashable, Sendable, CaseIterable {
  case ethernet
  case wifi
  case cellular
}

/// What the machine says of its network and its power, and why that is believed.
package struct NetworkConditions: Hashable, Sendable {
  /// What may have to be found out.
  package enum Aspect: Hashable, Sendable, CaseIterable {
    case type
    case metered
    case power
  }

  package struct Power: Hashable, Sendable {
    /// Nil where nothing says it.
    package var isOnMains: Bool?
    /// Percent of charge; nil without a battery.
    package var charge: Int?
    package var reason: String

    package init(isOnMains: Bool? = nil, charge: Int? = nil, reason: String = "not determined") {
      self.isOnMains = isOnMains
      self.charge = charge
      self.reason = reason
    }
  }

  /// Nil for unknown, no network among that.
  package var type: NetworkType?
  package var typeReason = "not determined"
  package var isMetered: Bool?
  package var meteredReason = "not determined"
  package var power = Power()

  package init() {}
}
