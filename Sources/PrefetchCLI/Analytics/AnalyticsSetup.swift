import PrefetchConfig
import PrefetchCore

/// What a configuration says of recorded events.
struct AnalyticsSetup: Sendable {
  /// Whose queue it is: nobody else's events go to its collector.
  let identity: String
  let bounds: QueueBounds
  /// Nil where nothing is sent; then nothing is recorded either but what somebody records by command.
  let collector: WebURL?
  let prefixes: MetricPrefixes

  init(_ loaded: LoadedConfiguration) {
    let analytics = loaded.configuration.analytics
    identity = loaded.identity
    bounds = QueueBounds(count: analytics.queue, keep: analytics.keep)
    collector = analytics.isEnabled && loaded.configuration.hasRuns ? analytics.endpoint : nil
    prefixes = MetricPrefixes(analytics.metrics)
  }
}
