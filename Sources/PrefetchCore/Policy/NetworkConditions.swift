package enum NetworkType: String, Hashable, Sendable, CaseIterable {
  case ethernet
  case wifi
  case cellular
}

/// Network and power of the machine, with the reasons for believing so.
package struct NetworkConditions: Hashable, Sendable {
  package enum Aspect: Hashable, Sendable, CaseIterable {
    case type
    case metered
    case power
  }

  package struct Power: Hashable, Sendable {
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

  package var type: NetworkType?
  package var typeReason = "not determined"
  package var isMetered: Bool?
  package var meteredReason = "not determined"
  package var power = Power()

  package init() {}
}
