package import PrefetchCore
import PrefetchDocuments

/// Usage figures for the user's own collector, off by default.
package struct Analytics: Hashable, Sendable {
  package var isEnabled = false
  package var endpoint: WebURL?
  package var queue = 10_000
  package var keep = Duration.seconds(7 * 86_400)
  package var metrics: [String: [String]] = [:]

  static let table = ObjectType(Self(), name: "analytics") {
    Field("enabled", \.isEnabled, .boolean)
      .help("Whether events are sent, and requests to the cache are recorded")
    Field("endpoint", \.endpoint, .url).help("URL of the collector")
    Field("queue", \.queue, .integer(0...1_000_000)).help("Most events that wait")
    Field("keep", \.keep, .duration).help("Longest time that an event waits")
    Field("metrics", \.metrics, .map(of: .name, to: .list(of: .text.nonEmpty)))
      .help("Metric names, each with the URL prefixes that it counts")
  }
  .checking { analytics, facts, decoder in
    for name in analytics.metrics.keys.sorted() {
      decoder.warnOfPrivateName(name, at: facts.keyNode(of: "metrics"))
    }
    guard analytics.isEnabled, !facts.has("endpoint") else { return }
    decoder.report(
      "config.missing-key",
      "analytics are enabled without an `endpoint`",
      at: facts.keyNode(of: "enabled")
    )
  }
}
