/// Counts of a cache server's responses since the last report, in bounded memory.
package struct CacheTally: Sendable {
  package struct Count: Hashable, Sendable {
    package var fetches: Int64 = 0
    package var misses: Int64 = 0

    mutating func add(isHit: Bool) {
      if isHit { fetches += 1 } else { misses += 1 }
    }

    static func + (a: Self, b: Self) -> Self {
      Self(fetches: a.fetches + b.fetches, misses: a.misses + b.misses)
    }
  }

  package struct Figures: Sendable {
    package var urls: [(url: String, count: Count)] = []
    package var others = Count()
    package var metrics: [(name: String, count: Int64)] = []
  }

  private let prefixes: MetricPrefixes
  private var counts: [String: Count] = [:]
  private var others = Count()
  private var metrics: [String: Int64] = [:]

  private static let most = 1000
  /// Maximum of URLs that are reported separately, so that the queue has room for other events.
  private static let maximumReported = 50

  package init(_ prefixes: MetricPrefixes) {
    self.prefixes = prefixes
  }

  package mutating func count(_ url: String, isHit: Bool) {
    for name in prefixes.names(counting: url) { metrics[name, default: 0] += 1 }
    if counts.count < Self.most || counts[url] != nil {
      counts[url, default: Count()].add(isHit: isHit)
    } else {
      others.add(isHit: isHit)
    }
  }

  package mutating func drain() -> Figures {
    let ranked = counts.sorted {
      let (a, b) = ($0.value.fetches + $0.value.misses, $1.value.fetches + $1.value.misses)
      return a == b ? $0.key < $1.key : a > b
    }
    var figures = Figures()
    figures.urls = ranked.prefix(Self.maximumReported).map { ($0.key, $0.value) }
    figures.others = ranked.dropFirst(Self.maximumReported).reduce(others) { $0 + $1.value }
    figures.metrics = metrics.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    self = CacheTally(prefixes)
    return figures
  }
}
