import PrefetchCore
import PrefetchServe
import PrefetchStore
import Synchronization

/// Counts answered requests in memory, since no answer may wait for a disk.
final class ServedURLCounts: Sendable {
  private struct Counts {
    var tally: CacheTally
    var since: Instant?
  }

  private let setup: AnalyticsSetup
  private let needles: SecretNeedles
  private let counts: Mutex<Counts>

  /// Interval of recording, which a killed server loses.
  private static let pause: Duration = .seconds(300)

  init(_ setup: AnalyticsSetup, hiding needles: SecretNeedles) {
    self.setup = setup
    self.needles = needles
    counts = Mutex(Counts(tally: CacheTally(setup.prefixes)))
  }

  /// Listener for answers; nil without a collector.
  var listener: ServeCounts.Listener? {
    guard setup.collector != nil else { return nil }
    return { [self] url, isHit in
      counts.withLock { $0.tally.count(url, isHit: isHit) }
    }
  }

  func drain(at now: Instant, isLast: Bool) -> [AnalyticsEvent] {
    let figures = counts.withLock { counts -> CacheTally.Figures? in
      let since = counts.since ?? now
      counts.since = since
      guard isLast || now < since || now - since >= Self.pause else { return nil }
      counts.since = now
      return counts.tally.drain()
    }
    return figures?.events(at: now, hiding: needles) ?? []
  }

  func queue(_ events: [AnalyticsEvent], in state: StateStore, at now: Instant) throws(Failure) {
    try state.queue(events, of: setup.identity, within: setup.bounds, at: now)
  }
}
