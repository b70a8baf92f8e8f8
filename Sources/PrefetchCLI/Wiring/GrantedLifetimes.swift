import PrefetchConfig
import PrefetchCore

/// What a configuration grants of freshness to the items of its segments.
struct GrantedLifetimes {
  private let bound: Duration?
  private let segments: [String: Duration]

  init(_ configuration: Configuration) {
    bound = configuration.cache.timeToLive
    segments = Dictionary(
      configuration.segments.compactMap { segment in
        segment.timeToLive.map { (segment.name, $0) }
      }
    ) { first, _ in first }
  }

  func of(_ names: [String]) -> [Freshness.Lifetime] {
    (names.compactMap { segments[$0] } + [bound].compactMap(\.self)).map { .atMost($0) }
  }
}
