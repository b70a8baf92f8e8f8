/// Event that was recorded for a collector and is queued.
package struct AnalyticsEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case logged
    case timed
    case consumption
    case cacheFetch = "cache_fetch"
    case cacheMiss = "cache_miss"
    case metric
  }

  /// Id that stays the same, so that a collector recognises an event sent twice.
  package var id: String
  package var kind: Kind
  package var name: String?
  package var at: Instant
  package var details: String

  package init(id: String, kind: Kind, name: String?, at: Instant, details: String) {
    self.id = id
    self.kind = kind
    self.name = name
    self.at = at
    self.details = details
  }
}

/// Limits of the event queue's length and age; the oldest events are dropped first.
package struct QueueBounds: Hashable, Sendable {
  package var count: Int
  package var keep: Duration

  package init(count: Int, keep: Duration) {
    self.count = count
    self.keep = keep
  }
}
