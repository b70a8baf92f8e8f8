/// What all workers may have on the wire together, and which hosts are in trouble.
///
/// Every worker has a share that no other keeps from it; what one does not use, others may.
struct WirePlaces: Sendable {
  enum Answer: Hashable, Sendable {
    case granted
    /// Another one has to end first.
    case full
    /// It was asked for before the host's last trouble was known.
    case outdated
  }

  private let limit: Int
  private let shares: [Int]
  private var held: [Int]
  private var isWaiting: [Bool]
  /// Whether it was handed requests that it has not looked at yet, and may want its share for.
  private var isCalled: [Bool]
  private var total = 0
  /// How often each host answered with trouble.
  private var troubles: [Int] = []

  init(limit: Int, workers: Int) {
    self.limit = max(1, limit)
    shares = (0..<workers).map { limit / workers + ($0 < limit % workers ? 1 : 0) }
    held = Array(repeating: 0, count: workers)
    isWaiting = Array(repeating: false, count: workers)
    isCalled = Array(repeating: false, count: workers)
  }

  /// Said before requests are handed over, so that the first that looks does not take it all.
  mutating func call(_ worker: Int) {
    isCalled[worker] = true
  }

  mutating func noteLooked(_ worker: Int) {
    isCalled[worker] = false
  }

  /// Asks for a place; `known` is how often the host was in trouble when the request was handed over.
  mutating func take(_ worker: Int, host: Int, knowing known: Int) -> Answer {
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

  mutating func giveBack(_ worker: Int) {
    held[worker] -= 1
    total -= 1
  }

  /// Another worker that waits for a place and could have one now.
  mutating func nextWaiting(besides worker: Int) -> Int? {
    guard total < limit else { return nil }
    for other in isWaiting.indices where other != worker && isWaiting[other] {
      isWaiting[other] = false
      return other
    }
    return nil
  }

  /// From now on only requests that were handed over later may start.
  mutating func noteTrouble(of host: Int) {
    while troubles.count <= host { troubles.append(0) }
    troubles[host] += 1
  }

  private func count(of host: Int) -> Int {
    host < troubles.count ? troubles[host] : 0
  }

  private func isAnotherOwed(_ worker: Int) -> Bool {
    isWaiting.indices.contains { other in
      other != worker && (isWaiting[other] || isCalled[other]) && held[other] < shares[other]
    }
  }
}
