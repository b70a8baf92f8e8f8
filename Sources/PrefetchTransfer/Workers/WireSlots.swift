/// Slots for requests in flight, shared by all workers, and troubles of hosts.
///
/// Each worker has a guaranteed share, which others may use while it is idle. A host's own limit
/// is its ``ConnectionWindow``.
struct WireSlots: Sendable {
  enum Verdict: Hashable, Sendable {
    case granted
    case full
    /// The host has as many connections as its window allows.
    case hostFull
    /// The request was assigned before the host's last trouble was known.
    case outdated
  }

  private struct Host: Sendable {
    var troubles = 0
    var window: ConnectionWindow
    /// Requests in flight of each worker.
    var held: [Int]
  }

  private let limit: Int
  private let shares: [Int]
  private let newHost: Host
  private var held: [Int]
  private var isWaiting: [Bool]
  /// Whether a worker has new orders that may need its share.
  private var isCalled: [Bool]
  private var total = 0
  private var hosts: [Host] = []

  init(limit: Int, workers: Int, connectionsPerHost: Int = .max, findsConnections: Bool = false) {
    self.limit = max(1, limit)
    shares = (0..<workers).map { Self.share(of: limit, $0, workers) }
    held = Array(repeating: 0, count: workers)
    isWaiting = Array(repeating: false, count: workers)
    isCalled = Array(repeating: false, count: workers)
    newHost = Host(
      window: ConnectionWindow(
        ceiling: connectionsPerHost,
        isFixed: !findsConnections,
        least: workers
      ),
      held: held
    )
  }

  /// Called before orders are posted, so that the first worker does not take all slots.
  mutating func call(_ worker: Int) {
    isCalled[worker] = true
  }

  mutating func clearCall(_ worker: Int) {
    isCalled[worker] = false
  }

  /// Takes a slot; `known` is the number of the host's troubles when the request was assigned.
  ///
  /// Streams share a connection, so the host's window does not limit them.
  mutating func acquire(
    _ worker: Int,
    host: Int,
    knowing known: Int,
    isStream: Bool = false
  ) -> Verdict {
    while hosts.count <= host { hosts.append(newHost) }
    guard known == hosts[host].troubles else { return .outdated }
    guard total < limit, held[worker] < shares[worker] || !isAnotherOwed(worker) else {
      isWaiting[worker] = true
      return .full
    }
    guard isStream || mayConnect(worker, to: host) else {
      return .hostFull
    }
    isWaiting[worker] = false
    held[worker] += 1
    total += 1
    hosts[host].held[worker] += 1
    return .granted
  }

  /// Each worker has a share of the host's connections, which no other worker can reuse.
  private func mayConnect(_ worker: Int, to number: Int) -> Bool {
    let host = hosts[number]
    // The assignment keeps to a fixed limit.
    return host.window.isFixed
      || host.held[worker] < Self.share(of: host.window.limit, worker, shares.count)
  }

  private static func share(of limit: Int, _ worker: Int, _ workers: Int) -> Int {
    limit / workers + (worker < limit % workers ? 1 : 0)
  }

  /// Takes a slot for a request that can also do without one, unless a worker waits for slots.
  ///
  /// Ranges find their number themselves, so that the window bounds them only nearby.
  mutating func acquireSpare(_ worker: Int, host: Int, knowing known: Int) -> Bool {
    guard known == count(of: host), total < limit, !isWaiting.contains(true),
      !isCalled.contains(true),
      hosts[host].held.reduce(0, +) < hosts[host].window.most
    else { return false }
    held[worker] += 1
    total += 1
    hosts[host].held[worker] += 1
    return true
  }

  func isAnotherWaiting(_ worker: Int) -> Bool {
    isWaiting.indices.contains { $0 != worker && isWaiting[$0] }
  }

  func isWaiting(_ worker: Int) -> Bool { isWaiting[worker] }

  mutating func giveBack(_ worker: Int, host: Int) {
    held[worker] -= 1
    total -= 1
    hosts[host].held[worker] -= 1
  }

  /// Counts what arrived from a host; returns its limit of connections if that is a new one.
  mutating func record(
    _ bytes: Int64,
    from host: Int,
    responses: Int = 0,
    latency: Duration? = nil,
    at now: Duration
  ) -> Int? {
    guard !hosts[host].window.isFixed else { return nil }
    let before = hosts[host].window.limit
    hosts[host].window.record(
      bytes: bytes,
      responses: responses,
      latency: latency,
      isFull: hosts[host].held.reduce(0, +) >= before,
      at: now
    )
    let limit = hosts[host].window.limit
    return limit == before ? nil : limit
  }

  mutating func nextWaiting(except worker: Int) -> Int? {
    guard total < limit else { return nil }
    for other in isWaiting.indices where other != worker && isWaiting[other] {
      isWaiting[other] = false
      return other
    }
    return nil
  }

  /// Blocks requests for the host that were assigned before; returns its limit of connections.
  @discardableResult
  mutating func recordTrouble(of host: Int, at now: Duration = .zero) -> Int {
    while hosts.count <= host { hosts.append(newHost) }
    hosts[host].troubles += 1
    hosts[host].window.recordTrouble(at: now)
    return hosts[host].window.limit
  }

  mutating func count(of host: Int) -> Int {
    while hosts.count <= host { hosts.append(newHost) }
    return hosts[host].troubles
  }

  private func isAnotherOwed(_ worker: Int) -> Bool {
    isWaiting.indices.contains { other in
      other != worker && (isWaiting[other] || isCalled[other]) && held[other] < shares[other]
    }
  }
}
