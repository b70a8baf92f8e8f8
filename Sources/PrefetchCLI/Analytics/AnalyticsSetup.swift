import PrefetchConfig
import PrefetchCore

/// What a configuration says of recorded events.
struct AnalyticsSetup: Sendable {
  /// Whose queue it is: no other identity's events go to its collector.
  let identity: String
  let bounds: QueueBounds
  /// Nil where nothing is sent; then nothing is recorded either, except by command.
  let collector: WebURL?
  let prefixes: MetricPrefixes

  /// `publisher` is the remembered policy of the license, which may switch sending off.
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
