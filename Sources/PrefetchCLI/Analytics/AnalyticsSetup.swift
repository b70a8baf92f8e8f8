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

  /// Whoever publishes may have switched it off.
  init(_ loaded: LoadedConfiguration, publisher: PublisherPolicy? = nil) {
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
