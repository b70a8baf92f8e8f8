package import PrefetchCore
import PrefetchDocuments

/// What a measured throughput means.
package struct QualityRules: Hashable, Sendable {
  package var good: Int64?
  package var excellent: Int64?
  package var on: [String: QualityPolicy.Reaction] = [:]

  static let table = ObjectType(Self(), name: "quality") {
    Field("good", \.good, .rate, "Throughput from which the network is good")
    Field("excellent", \.excellent, .rate, "Throughput from which the network is excellent")
    Field(
      "on",
      \.on,
      .map(of: .oneOf("quality", NetworkQuality.allCases.map(\.rawValue)), to: .choice()),
      "What to do at each quality; `go` where nothing is said"
    )
  }
  .checking { rules, facts, decoder in
    guard let good = rules.good, let excellent = rules.excellent, good > excellent else { return }
    decoder.report(
      "config.bad-value",
      "`good` is faster than `excellent`",
      at: facts.place(of: "good")
    )
  }
}
