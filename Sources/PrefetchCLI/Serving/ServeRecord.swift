import PrefetchCore
import PrefetchServe
import PrefetchStore

/// What a server did, kept in the state for those who ask later.
///
/// A convenience: where the state cannot be written it is not kept.
final class ServeRecord {
  private let cache: ServedCache
  private let counts: ServeCounts
  private let places: Places
  private let answers: AnsweredURLs
  /// What is in the state already.
  private var kept = ServeFigures()

  init(cache: ServedCache, counts: ServeCounts, answers: AnsweredURLs, places: Places) {
    self.cache = cache
    self.counts = counts
    self.places = places
    self.answers = answers
  }

  /// `isLast` tells of answers, too, that were given since the last of the longer pauses.
  func keep(at now: Instant, isLast: Bool = false) {
    let figures = counts.figures
    let used = cache.takeUsed()
    let events = answers.take(at: now, isLast: isLast)
    guard figures != kept || !used.isEmpty || !events.isEmpty,
      let state = try? StateStore.openForWriting(state: places.state)
    else { return }
    if !used.isEmpty { try? state.markUsed(used, at: now) }
    try? state.add(figures - kept, on: String(Timestamp.format(now).prefix(10)))
    if !events.isEmpty { try? answers.queue(events, in: state, at: now) }
    try? state.close()
    kept = figures
  }
}
