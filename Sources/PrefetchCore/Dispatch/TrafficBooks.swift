/// What this run has received and not yet written into the books that all runs share.
struct TrafficBooks: Sendable {
  /// Bytes that may be lost to the books when the process is killed.
  private static let patience: Int64 = 1 << 20
  private static let leastPatience: Int64 = 1 << 14
  /// The bytes that are expected of a transfer before any has ended.
  private static let firstTransfer: Int64 = 1 << 20
  private static let leastTransfer: Int64 = 64 << 10

  private(set) var unrecorded = NetworkMemory()
  private var bytes: Int64 = 0
  /// What progress told of transfers under way, so that their ends count the rest alone.
  private var counted: [TransferID: Int64] = [:]
  /// The most bytes that a transfer of this run has received.
  private var largest: Int64 = 0

  var expectedTransfer: Int64 {
    largest == 0 ? Self.firstTransfer : max(largest, Self.leastTransfer)
  }

  mutating func progressed(_ id: TransferID, _ bytes: Int64) {
    counted[id, default: 0] += bytes
  }

  /// What of all that a transfer has received is not counted yet, at its end.
  mutating func rest(of id: TransferID, _ all: Int64) -> Int64 {
    largest = max(largest, all)
    return max(0, all - (counted.removeValue(forKey: id) ?? 0))
  }

  mutating func add(_ more: Int64, _ key: TransferUsage.Key) {
    unrecorded.usage.add(more, key)
    bytes += more
  }

  mutating func note(_ sample: TransferSamples.Sample) {
    unrecorded.samples.note(sample)
  }

  /// What has to be kept for good now, if anything.
  mutating func take(isIdle: Bool, headroom: Int64) -> NetworkMemory? {
    guard !unrecorded.isEmpty else { return nil }
    let patience = min(Self.patience, max(Self.leastPatience, headroom / 16))
    guard isIdle || bytes >= patience else { return nil }
    defer { (unrecorded, bytes) = (NetworkMemory(), 0) }
    return unrecorded
  }
}
