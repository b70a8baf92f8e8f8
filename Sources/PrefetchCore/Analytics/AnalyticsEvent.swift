/// Something that was recorded for a collector, and waits to be sent.
package struct AnalyticsEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// It happened at one moment.
    case logged
    /// It had a beginning and an end.
    case timed
    case consumption
    /// Answers out of the cache.
    case cacheFetch = "cache_fetch"
    /// Answers that the cache could not give by itself.
    case cacheMiss = "cache_miss"
    /// How often URLs were asked for that a metric counts.
    case metric
  }

  /// The same for as long as it waits, so that a collector sent it twice knows it again.
  package var id: String
  package var kind: Kind
  package var name: String?
  package var at: Instant
  /// The rest of what is told of it, one JSON object.
  package var details: String

  package init(id: String, kind: Kind, name: String?, at: Instant, details: String) {
    self.id = id
    self.kind = kind
    self.name = name
    self.at = at
    self.details = details
  }
}

/// How much may wait to be sent, and for how long; what is too old or too much goes, the oldest first.
package struct QueueBounds: Hashable, Sendable {
  package var count: Int
  package var keep: Duration

  package init(count: Int, keep: Duration) {
    self.count = count
    self.keep = keep
  }
}
