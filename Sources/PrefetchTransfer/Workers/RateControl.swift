internal import PrefetchCore

/// Holds the transfers of one worker to the rates that all workers share.
///
/// What arrived is booked after the fact; a transfer in debt is paused until it is paid, and none
/// begins meanwhile.
final class RateControl {
  private let buckets: Locked<RateBuckets>
  private var paused: [Lane] = []

  init(_ buckets: Locked<RateBuckets>) {
    self.buckets = buckets
  }

  /// When the first of the paused ones may go on.
  var nextResumption: Duration? {
    paused.lazy.map(\.resumesAt).min()
  }

  func holds(_ request: TransferRequest) -> Bool {
    buckets.withLock { $0.holds(request) }
  }

  /// When a request that has not begun may do so.
  func readyAt(_ request: TransferRequest, now: Duration) -> Duration {
    buckets.withLock { $0.take(0, for: request, at: now) }
  }

  /// Books what came since the last time, and pauses whoever is in debt.
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
    guard let request = lane.exchange?.request else { return now }
    let size = lane.handle.wireSize
    let bytes = max(0, size - lane.bookedSize)
    lane.bookedSize = size
    return buckets.withLock { $0.take(bytes, for: request, at: now) }
  }
}
