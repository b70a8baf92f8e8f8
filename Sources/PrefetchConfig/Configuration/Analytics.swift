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
      .help("Whether recorded events are sent, and what a cache is asked for is recorded")
    Field("endpoint", \.endpoint, .url).help("The collector that events are sent to")
    Field("queue", \.queue, .integer(0...1_000_000)).help("Events that wait at most")
    Field("keep", \.keep, .duration).help("How long an event waits at most")
    Field("metrics", \.metrics, .map(of: .name, to: .list(of: .text.nonEmpty)))
      .help("Metric names, each with the URL prefixes it counts")
  }
  .checking { analytics, facts, decoder in
    for name in analytics.metrics.keys.sorted() {
      decoder.warnOfPrivateName(name, at: facts.place(of: "metrics"))
    }
    guard analytics.isEnabled, !facts.has("endpoint") else { return }
    decoder.report(
      "config.missing-key",
      "analytics are enabled without an `endpoint`",
      at: facts.place(of: "enabled")
    )
  }
}
