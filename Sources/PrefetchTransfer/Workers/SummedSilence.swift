internal import PrefetchCore

/// Time without bytes from a server, summed over its transfers, so that dripping counts as well.
struct SummedSilence: Hashable, Sendable {
  private var lastByteAt = Duration.zero
  private var countedUntil = Duration.zero
  private var sum = Duration.zero

  private static let shortestPause = Duration.milliseconds(250)

  mutating func recordByte(at now: Duration) {
    lastByteAt = max(lastByteAt, now)
  }

  /// Adds the pause since `start`; returns true when the limit is reached.
  mutating func addPause(since start: Duration, until now: Duration, limit: Duration) -> Bool {
    let begin = max(start, lastByteAt)
    guard now - begin >= min(Self.shortestPause, limit / 4) else { return false }
    sum += max(.zero, now - max(begin, countedUntil))
    countedUntil = max(countedUntil, now)
    return sum >= limit
  }
}
