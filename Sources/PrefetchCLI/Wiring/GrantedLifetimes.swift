import PrefetchConfig
import PrefetchCore

struct GrantedLifetimes {
  private let bound: Freshness.Lifetime?
  private let segments: [String: Freshness.Lifetime]

  init(_ configuration: Configuration) {
    bound = configuration.policy.freshnessLimit.map { .atMost($0) }
    segments = Dictionary(
      configuration.segments.compactMap { segment in
        segment.declaration.lifetime.map { (segment.name, $0) }
      }
    ) { first, _ in first }
  }

  func of(_ names: [String]) -> [Freshness.Lifetime] {
    names.compactMap { segments[$0] } + [bound].compactMap(\.self)
  }
}
