/// Metrics that count requests for URLs below certain prefixes.
package struct MetricPrefixes: Sendable {
  private let metrics: [(name: String, prefixes: [String])]

  package init(_ metrics: [String: [String]]) {
    self.metrics = metrics.sorted { $0.key < $1.key }.map { name, prefixes in
      (name, prefixes.map(Self.canonical))
    }
  }

  /// Returns a prefix in the canonical form of URLs, in which a host ends with its name.
  private static func canonical(_ prefix: String) -> String {
    (try? WebURL(prefix))?.string ?? prefix
  }

  package func names(counting url: String) -> [String] {
    metrics.filter { $0.prefixes.contains { url.hasPrefix($0) } }.map(\.name)
  }
}
