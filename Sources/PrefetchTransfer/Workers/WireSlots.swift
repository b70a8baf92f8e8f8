/// Slots for requests in flight, shared by all workers, and troubles of hosts.
///
/// Each worker has a guaranteed share, which others may use while it is idle.
struct WireSlots: Sendable {
  enum Verdict: Hashable, Sendable {
    case granted
    case full
    /// The request was assigned before the host's last trouble was known.
    case outdated
  }

  private let limit: Int
  private let shares: [Int]
  private var held: [Int]
  private var isWaiting: [Bool]
  /// Whether a worker has new orders that may need its share.
  private var isCalled: [Bool]
  private var total = 0
  private var troubles: [Int] = []

  init(limit: Int, workers: Int) {
    self.limit = max(1, limit)
    shares = (0..<workers).map { limit / workers + ($0 < limit % workers ? 1 : 0) }
    held = Array(repeating: 0, count: workers)
    isWaiting = Array(repeating: false, count: workers)
    isCalled = Array(repeating: false, count: workers)
  }

  /// Called before orders are posted, so that the first worker does not take all slots.
  mutating func call(_ worker: Int) {
    isCalled[worker] = true
  }

  mutating func clearCall(_ worker: Int) {
    isCalled[worker] = false
  }

  /// Takes a slot; `known` is the number of the host's troubles when the request was assigned.
  mutating func acquire(_ worker: Int, host: Int, knowing known: Int) -> Verdict {
    guard known == count(of: host) else { return .outdated }
    guard total < limit, held[worker] < shares[worker] || !isAnotherOwed(worker) else {
      isWaiting[worker] = true
      return .full
    }
    isWaiting[worker] = false
    held[worker] += 1
    total += 1
    return .granted
  }

  /// Takes a slot for a request that can also do without one, unless a worker waits for slots.
  mutating func acquireSpare(_ worker: Int, host: Int, knowing known: Int) -> Bool {
    guard known == count(of: host), total < limit, !isWaiting.contains(true),
      !isCalled.contains(true)
    else { return false }
    held[worker] += 1
    total += 1
    return true
  }

  func isAnotherWaiting(_ worker: Int) -> Bool {
    isWaiting.indices.contains { $0 != worker && isWaiting[$0] }
  }

  mutating func giveBack(_ worker: Int) {
    held[worker] -= 1
    total -= 1
  }

  mutating func nextWaiting(except worker: Int) -> Int? {
    guard total < limit else { return nil }
    for other in isWaiting.indices where other != worker && isWaiting[other] {
      isWaiting[other] = false
      return other
    }
    return nil
  }

  /// Blocks requests for the host that were assigned before.
  mutating func recordTrouble(of host: Int) {
    while troubles.count <= host { troubles.append(0) }
    troubles[host] += 1
  }

  func count(of host: Int) -> Int {
    host < troubles.count ? troubles[host] : 0
  }

  private func isAnotherOwed(_ worker: Int) -> Bool {
    isWaiting.indices.contains { other in
      other != worker && (isWaiting[other] || isCalled[other]) && held[other] < shares[other]
    }
  }
}
