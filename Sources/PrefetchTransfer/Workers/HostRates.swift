internal import PrefetchCore

/// Rates that hosts give to connections, and hosts that give nothing to further ones; all workers
/// share it.
struct HostRates: Sendable {
  private struct Sample: Sendable {
    var transfer: TransferID
    var rate: Int64
    var time: Duration
  }

  /// Time for which a rate says what a host gives.
  private static let lifetime = Duration.seconds(5)

  private var samples: [Int: [Sample]] = [:]
  private var refusing: Set<Int> = []

  mutating func record(_ rate: Int64, of transfer: TransferID, host: Int, at now: Duration) {
    samples[host, default: []].removeAll {
      $0.transfer == transfer || now - $0.time > Self.lifetime
    }
    samples[host, default: []].append(Sample(transfer: transfer, rate: rate, time: now))
  }

  func fastest(of host: Int, except transfer: TransferID, at now: Duration) -> Int64? {
    samples[host]?.lazy
      .filter { $0.transfer != transfer && now - $0.time <= Self.lifetime }.map(\.rate).max()
  }

  /// Ends ranges of this host for the rest of the run.
  mutating func refuseRanges(of host: Int) {
    refusing.insert(host)
  }

  func refusesRanges(of host: Int) -> Bool {
    refusing.contains(host)
  }
}
