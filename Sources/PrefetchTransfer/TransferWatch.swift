internal import PrefetchCore

/// Watches a transfer for stalls and timeouts: libcurl's checks use averages and count queueing.
struct TransferWatch: Hashable, Sendable {
  private let readTimeout: Duration
  private let itemTimeout: Duration?
  private var requestedAt: Duration?
  private var lastActivity: Duration
  private var reportedSize: Int64 = 0

  init(settings: TransportSettings, now: Duration) {
    readTimeout = settings.readTimeout
    itemTimeout = settings.itemTimeout
    lastActivity = now
  }

  /// Returns the interval of checks: no limit is exceeded by more than a quarter.
  static func interval(_ settings: TransportSettings) -> Duration {
    let shortest = min(settings.readTimeout, settings.itemTimeout ?? settings.readTimeout)
    return max(.milliseconds(5), min(.milliseconds(100), shortest / 4))
  }

  mutating func update(_ transfer: RunningTransfer, at now: Duration) -> Int64 {
    if transfer.isRequested, requestedAt == nil {
      requestedAt = now
      lastActivity = now
    }
    if transfer.hasActivity {
      transfer.hasActivity = false
      lastActivity = now
    }
    defer { reportedSize = transfer.arrivedSize }
    return transfer.arrivedSize - reportedSize
  }

  /// Returns the failure of a transfer that is too slow, not counting the time before its request.
  func overdue(_ transfer: RunningTransfer, at now: Duration) -> Failure? {
    guard let requestedAt else { return nil }
    let host = transfer.request.url.authority
    if let itemTimeout, now - requestedAt >= itemTimeout {
      let message = "the transfer from `\(host)` took longer than \(itemTimeout)"
      return Failure(.timeout, message, isTransient: true)
    }
    let limit = transfer.request.idleTimeout ?? readTimeout
    guard now - lastActivity >= limit else { return nil }
    let message = "`\(host)` sent nothing for \(limit)"
    return Failure(.stalled, message, isTransient: true)
  }

  /// Returns the failure of a silent transfer whose server used up its summed silence.
  func exhausted(
    _ transfer: RunningTransfer,
    _ silence: Locked<SummedSilence>,
    at now: Duration
  ) -> Failure? {
    guard requestedAt != nil, transfer.upload == nil, let limit = transfer.request.idleTimeout
    else {
      return nil
    }
    let isUsedUp = silence.withLock { [lastActivity] silence in
      guard lastActivity < now else {
        silence.recordByte(at: now)
        return false
      }
      return silence.addPause(since: lastActivity, until: now, limit: limit)
    }
    guard isUsedUp else { return nil }
    let message = "`\(transfer.request.url.authority)` sent nothing for \(limit) in all"
    return Failure(.stalled, message, isTransient: true)
  }
}
