internal import PrefetchCore

/// Holds the transfers of one worker to the rates that all workers share.
///
/// What arrived is booked after the fact; a transfer in debt is paused until it is paid, and none
/// begins meanwhile.
final class RateControl {
  private let buckets: Locked<RateBuckets>
  /// Whether every request is held to a rate, whatever its group.
  private let holdsAll: Bool
  private var paused: [Lane] = []
  /// When the first request that waits for a rate may begin.
  private(set) var nextStart: Duration?

  init(_ buckets: Locked<RateBuckets>) {
    self.buckets = buckets
    holdsAll = buckets.withLock { $0.holdsAll }
  }

  /// When the first of the paused ones may go on.
  var nextResumption: Duration? {
    paused.lazy.map(\.resumesAt).min()
  }

  func holds(_ request: TransferRequest) -> Bool {
    holdsAll || request.rateGroup != nil
  }

  /// Whether nothing is owed to a rate that the request is held to.
  func mayStart(_ request: TransferRequest) -> Bool {
    guard holds(request) else { return true }
    let now = Uptime.now()
    let readyAt = buckets.withLock { $0.take(0, for: request, at: now) }
    guard readyAt > now else { return true }
    nextStart = min(nextStart ?? readyAt, readyAt)
    return false
  }

  /// Whether it is time to look again at those that might not start.
  func mayStartHeld() -> Bool {
    guard let due = nextStart, due <= Uptime.now() else { return false }
    nextStart = nil
    return true
  }

  /// Books what came since the last time, and pauses a transfer that is in debt.
  func note(_ lane: Lane) {
    let now = Uptime.now()
    lane.resumesAt = book(lane, at: now)
    guard lane.resumesAt > now, !lane.isPaused else { return }
    lane.isPaused = true
    lane.handle.pause()
    paused.append(lane)
  }

  /// Lets those go on who paid.
  func resume() {
    guard !paused.isEmpty else { return }
    let now = Uptime.now()
    for lane in paused where lane.resumesAt <= now {
      // Others may have taken what it waited for.
      lane.resumesAt = book(lane, at: now)
      guard lane.resumesAt <= now else { continue }
      lane.isPaused = false
      lane.handle.resume()
    }
    paused.removeAll { !$0.isPaused }
  }

  func end(_ lane: Lane) {
    _ = book(lane, at: Uptime.now())
    paused.removeAll { $0 === lane }
  }

  private func book(_ lane: Lane, at now: Duration) -> Duration {
    guard let request = lane.transfer?.request else { return now }
    let size = lane.handle.wireSize
    let bytes = max(0, size - lane.bookedSize)
    lane.bookedSize = size
    return buckets.withLock { $0.take(bytes, for: request, at: now) }
  }
}
