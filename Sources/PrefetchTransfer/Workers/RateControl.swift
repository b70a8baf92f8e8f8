internal import PrefetchCore

/// Holds one worker's transfers to the shared rates: pauses those in debt for received bytes.
final class RateControl {
  private let buckets: Locked<RateBuckets>
  private let holdsAll: Bool
  private var paused: [Lane] = []
  private(set) var nextStart: Duration?

  init(_ buckets: Locked<RateBuckets>) {
    self.buckets = buckets
    holdsAll = buckets.withLock { $0.holdsAll }
  }

  var nextResumption: Duration? {
    paused.lazy.map(\.resumesAt).min()
  }

  func holds(_ request: TransferRequest) -> Bool {
    holdsAll || request.rateGroup != nil
  }

  func mayStart(_ request: TransferRequest) -> Bool {
    guard holds(request) else { return true }
    let now = Uptime.now()
    let readyAt = buckets.withLock { $0.consume(0, for: request, at: now) }
    guard readyAt > now else { return true }
    nextStart = min(nextStart ?? readyAt, readyAt)
    return false
  }

  func mayStartHeld() -> Bool {
    guard let due = nextStart, due <= Uptime.now() else { return false }
    nextStart = nil
    return true
  }

  /// Charges new bytes, and pauses a transfer in debt.
  func charge(_ lane: Lane) {
    let now = Uptime.now()
    lane.resumesAt = charge(lane, at: now)
    guard lane.resumesAt > now, !lane.isPaused else { return }
    lane.isPaused = true
    lane.handle.pause()
    paused.append(lane)
  }

  func resume() {
    guard !paused.isEmpty else { return }
    let now = Uptime.now()
    for lane in paused where lane.resumesAt <= now {
      // Other transfers may have used the rate meanwhile.
      lane.resumesAt = charge(lane, at: now)
      guard lane.resumesAt <= now else { continue }
      lane.isPaused = false
      lane.handle.resume()
    }
    paused.removeAll { !$0.isPaused }
  }

  func end(_ lane: Lane) {
    _ = charge(lane, at: Uptime.now())
    paused.removeAll { $0 === lane }
  }

  private func charge(_ lane: Lane, at now: Duration) -> Duration {
    guard let request = lane.transfer?.request else { return now }
    let size = lane.handle.wireSize
    let bytes = max(0, size - lane.chargedSize)
    lane.chargedSize = size
    return buckets.withLock { $0.consume(bytes, for: request, at: now) }
  }
}
