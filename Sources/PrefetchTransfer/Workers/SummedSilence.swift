internal import PrefetchCore

/// Time without a byte from a server whose requests have a patience of their own, summed over all of its
/// transfers: a server that drips uses up the same patience as one that is silent.
struct SummedSilence: Hashable, Sendable {
  private var lastByteAt = Duration.zero
  /// Until when silence was added.
  private var countedUntil = Duration.zero
  private var sum = Duration.zero

  /// Shorter pauses are what every server makes.
  private static let shortestPause = Duration.milliseconds(250)

  mutating func noteByte(at now: Duration) {
    lastByteAt = max(lastByteAt, now)
  }

  /// Adds the pause of a transfer that nothing came for since `start`; true where the patience is used up
  /// and this transfer takes part in it.
  mutating func note(since start: Duration, until now: Duration, patience: Duration) -> Bool {
    let begin = max(start, lastByteAt)
    guard now - begin >= min(Self.shortestPause, patience / 4) else { return false }
    sum += max(.zero, now - max(begin, countedUntil))
    countedUntil = max(countedUntil, now)
    return sum >= patience
  }
}
