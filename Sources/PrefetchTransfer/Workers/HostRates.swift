internal import PrefetchCore

/// Rates that hosts give to connections, and hosts that give nothing to further ones; all workers
/// share it.
struct HostRates: Sendable {
  private struct Sample: Sendable {
    var transfer: TransferID
    /// Rate of the last window; nil in the first one.
    var rate: Int64?
    var time: Duration
  }

  /// Time for which a rate says what a host gives.
  private static let lifetime = Duration.seconds(5)
  /// Time for which a transfer without a rate counts as being in flight.
  private static let firstLifetime = Duration.seconds(1)

  private var samples: [Int: [Sample]] = [:]
  private var refusing: Set<Int> = []

  mutating func record(_ rate: Int64?, of transfer: TransferID, host: Int, at now: Duration) {
    samples[host, default: []].removeAll { $0.transfer == transfer || !Self.isValid($0, at: now) }
    samples[host, default: []].append(Sample(transfer: transfer, rate: rate, time: now))
  }

  /// Returns the highest rate of another transfer; zero if none has been measured yet.
  func fastest(of host: Int, except transfer: TransferID, at now: Duration) -> Int64? {
    samples[host]?.lazy.filter { $0.transfer != transfer && Self.isValid($0, at: now) }
      .map { $0.rate ?? 0 }.max()
  }

  private static func isValid(_ sample: Sample, at now: Duration) -> Bool {
    now - sample.time <= (sample.rate == nil ? firstLifetime : lifetime)
  }

  /// Ends ranges of this host for the rest of the run.
  mutating func refuseRanges(of host: Int) {
    refusing.insert(host)
  }

  func refusesRanges(of host: Int) -> Bool {
    refusing.contains(host)
  }
}
