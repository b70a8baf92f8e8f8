import PrefetchCore
import PrefetchServe
import PrefetchStore
import Synchronization

/// Counts answered requests in memory, since no answer may wait for a disk.
final class AnsweredURLs: Sendable {
  private struct Notes {
    var tally: CacheTally
    var since: Instant?
  }

  private let setup: AnalyticsSetup
  private let needles: SecretNeedles
  private let notes: Mutex<Notes>

  /// Interval of recording, which a killed server loses.
  private static let pause: Duration = .seconds(300)

  init(_ setup: AnalyticsSetup, hiding needles: SecretNeedles) {
    self.setup = setup
    self.needles = needles
    notes = Mutex(Notes(tally: CacheTally(setup.prefixes)))
  }

  /// Listener for answers; nil without a collector.
  var listener: ServeCounts.Listener? {
    guard setup.collector != nil else { return nil }
    return { [self] url, isHit in
      notes.withLock { $0.tally.note(url, isHit: isHit) }
    }
  }

  func take(at now: Instant, isLast: Bool) -> [AnalyticsEvent] {
    let figures = notes.withLock { notes -> CacheTally.Figures? in
      let since = notes.since ?? now
      notes.since = since
      guard isLast || now < since || now - since >= Self.pause else { return nil }
      notes.since = now
      return notes.tally.take()
    }
    return figures?.events(at: now, hiding: needles) ?? []
  }

  func queue(_ events: [AnalyticsEvent], in state: StateStore, at now: Instant) throws(Failure) {
    try state.queue(events, of: setup.identity, within: setup.bounds, at: now)
  }
}
