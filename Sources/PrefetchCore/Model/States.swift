/// Where an item stands between its declaration and its body.
package enum ItemState: String, Hashable, Sendable, CaseIterable {
  /// Declared, nothing known yet.
  case pending
  case discovered
  case queued
  case downloading
  /// Stopped by policy, network or time; goes on by itself.
  case idle
  /// Stopped by a person; goes on only when asked.
  case paused
  case cached
  case partial
  case failed
  case deleted
}

/// What a person said of an item that a run has under way.
package enum ItemControl: Hashable, Sendable {
  /// It stops, and what has come of it waits until it is resumed.
  case paused
  /// It stops, and nothing of it stays.
  case removed
}

/// Where a segment stands after a run.
package enum SegmentState: String, Hashable, Sendable, CaseIterable {
  case current
  /// An item or the manifest failed, also when an older copy serves.
  case incomplete
  /// Nothing of it is usable.
  case failed
  case deferred
  case unsubscribed
}
