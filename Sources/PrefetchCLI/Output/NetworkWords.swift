import PrefetchCore
import PrefetchDocuments

enum NetworkWords {
  static func metered(_ isMetered: Bool?) -> String {
    switch isMetered {
    case true?: "yes"
    case false?: "no"
    case nil: "unknown"
    }
  }

  static func power(_ power: NetworkConditions.Power) -> String {
    switch power.isOnMains {
    case true?: "mains"
    case false?: "battery"
    case nil: "unknown"
    }
  }

  static func reason(_ conditions: NetworkConditions) -> String {
    guard conditions.isMetered != nil, conditions.meteredReason != conditions.typeReason else {
      return conditions.typeReason
    }
    return "\(conditions.typeReason); metered: \(conditions.meteredReason)"
  }

  static func document(_ rule: NetworkRuleVerdict) -> JSONValue {
    let (word, until): (String, Instant?) =
      switch rule.decision {
      case .passes: ("passes", nil)
      case .throttles: ("throttles", nil)
      case .defers(let until): ("defers", until)
      }
    return [
      "rule": .string(rule.rule.rawValue), "verdict": .string(word), "until": .time(until),
      "reason": .string(rule.reason),
    ]
  }

  static func document(_ report: Report) -> JSONValue {
    guard let conditions = report.network else {
      return ["type": .null, "metered": .null, "quality": .null, "reason": .null]
    }
    return [
      "type": .optional(conditions.type?.rawValue),
      "metered": .optional(conditions.isMetered),
      "quality": .string(report.quality.rawValue),
      "reason": .string(reason(conditions)),
    ]
  }
}

extension RuleVerdict {
  init(_ network: NetworkRuleVerdict) {
    let verdict: Verdict =
      switch network.decision {
      case .passes: .allowed
      case .throttles: .applies
      case .defers: .deferred
      }
    self.init("network.\(network.rule.rawValue)", verdict, network.reason)
  }
}

extension NetworkVerdict {
  var word: String {
    switch self {
    case .allowed: "go"
    case .throttle: "throttle"
    case .deferred: "deferred"
    }
  }
}

extension JSONValue {
  static func optional(_ value: Bool?) -> JSONValue {
    value.map { .bool($0) } ?? .null
  }
}
