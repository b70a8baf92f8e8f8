import PrefetchConfig
import PrefetchCore

struct AnalyticsSetup: Sendable {
  /// Identity that owns the queue; events of other identities never go to this collector.
  let identity: String
  let bounds: QueueBounds
  /// Endpoint that receives the events; nil if sending is off, and then only commands record.
  let collector: WebURL?
  let prefixes: MetricPrefixes

  /// Reads the configuration; `publisher` is the license's policy, which may stop sending.
  init(_ loaded: LoadedConfiguration, publisher: PublisherPolicy?) {
    let configuration = loaded.configuration
    let analytics = configuration.analytics
    let isOn =
      analytics.isEnabled && configuration.hasRuns && configuration.features.recordsFigures
      && publisher?.switchedOff.contains(.analytics) != true
    identity = loaded.identity
    bounds = QueueBounds(count: analytics.queue, keep: analytics.keep)
    collector = isOn ? analytics.endpoint : nil
    prefixes = MetricPrefixes(analytics.metrics)
  }
}
