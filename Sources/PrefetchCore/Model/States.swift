package enum ItemState: String, Hashable, Sendable, CaseIterable {
  case pending
  case discovered
  case queued
  case downloading
  /// Stopped by policy, network or time; continues by itself.
  case idle
  /// Stopped by the user; continues only on request.
  case paused
  case cached
  case partial
  case failed
  case deleted
}

/// User's command for an item that a run is working on.
package enum ItemControl: Hashable, Sendable {
  /// Stops the item and keeps its partial body until it is resumed.
  case paused
  /// Stops the item and discards what has arrived.
  case removed
}

package enum SegmentState: String, Hashable, Sendable, CaseIterable {
  case current
  /// An item or the manifest failed, even if an older copy serves.
  case incomplete
  case failed
  case deferred
  case unsubscribed
}
