package import PrefetchCore
import PrefetchDocuments

/// Figures for the publisher, off unless asked for.
package struct Analytics: Hashable, Sendable {
  package var isEnabled = false
  package var endpoint: WebURL?
  package var queue = 10_000
  package var keep = Duration.seconds(7 * 86_400)
  package var metrics: [String: [String]] = [:]

  static let table = ObjectType(Self(), name: "analytics") {
    Field("enabled", \.isEnabled, .boolean, "Whether anything is recorded for sending").later
    Field("endpoint", \.endpoint, .url, "Where batches are sent").later
    Field("queue", \.queue, .integer(0...1_000_000), "Records that wait at most").later
    Field("keep", \.keep, .duration, "How long a record waits at most").later
    Field(
      "metrics",
      \.metrics,
      .map(of: .name, to: .list(of: .text.nonEmpty)),
      "Metric names, each with the URL prefixes it counts"
    ).later
  }
  .checking { analytics, facts, decoder in
    guard analytics.isEnabled, !facts.has("endpoint") else { return }
    decoder.report(
      "config.missing-key",
      "analytics are enabled without an `endpoint`",
      at: facts.place(of: "enabled")
    )
  }
}
