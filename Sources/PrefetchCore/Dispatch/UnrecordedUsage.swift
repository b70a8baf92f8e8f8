/// Received bytes and samples that are not yet written to the shared state database.
struct UnrecordedUsage: Sendable {
  /// Unwritten bytes that trigger a write.
  private static let usualThreshold: Int64 = 1 << 20
  private static let leastThreshold: Int64 = 1 << 14
  /// Expected bytes of a transfer before any has ended.
  private static let firstTransfer: Int64 = 1 << 20
  private static let leastTransfer: Int64 = 64 << 10

  private(set) var memory = NetworkMemory()
  private var bytes: Int64 = 0
  private var counted: [TransferID: Int64] = [:]
  private var largest: Int64 = 0

  var expectedTransfer: Int64 {
    largest == 0 ? Self.firstTransfer : max(largest, Self.leastTransfer)
  }

  mutating func progressed(_ id: TransferID, _ bytes: Int64) {
    counted[id, default: 0] += bytes
  }

  mutating func rest(of id: TransferID, _ all: Int64) -> Int64 {
    largest = max(largest, all)
    return max(0, all - (counted.removeValue(forKey: id) ?? 0))
  }

  mutating func add(_ more: Int64, _ key: TransferUsage.Key) {
    memory.usage.add(more, key)
    bytes += more
  }

  mutating func recordSample(_ sample: TransferSamples.Sample) {
    memory.samples.add(sample)
  }

  mutating func drain(isIdle: Bool, headroom: Int64) -> NetworkMemory? {
    guard !memory.isEmpty else { return nil }
    let threshold = min(Self.usualThreshold, max(Self.leastThreshold, headroom / 16))
    guard isIdle || bytes >= threshold else { return nil }
    defer { (memory, bytes) = (NetworkMemory(), 0) }
    return memory
  }
}
