internal import PrefetchCore

/// Shares of hosts' connections and streams, fixed per worker, so that a host's limit holds.
struct HostShares {
  struct Assignment: Hashable, Sendable {
    /// Number of host and port, counted from zero.
    var origin: Int
    var worker: Int
    var connections: Int
    var streams: Int
    /// Number of the host's troubles at the assignment, see ``WireSlots``.
    var troubles = 0
    /// Whether the worker has a free connection, as far as is known.
    var isUrgent = true
  }

  private static let streamsPerConnection = 8

  private let workerCount: Int
  private let connectionsPerHost: Int
  private var numbers: [String: Int] = [:]
  /// Last origin, since successive requests mostly go to one host.
  private var latest: (scheme: WebURL.Scheme, host: String, port: Int, number: Int)?
  private var authorities: [String] = []
  private var loads: [Int] = []
  private var totals: [Int]
  private var troubles: [Int] = []

  init(workers: Int, connectionsPerHost: Int) {
    workerCount = max(1, workers)
    self.connectionsPerHost = max(1, connectionsPerHost)
    totals = Array(repeating: 0, count: workerCount)
  }

  mutating func assign(_ url: WebURL) -> Assignment {
    let origin = number(of: url)
    var best = assignment(origin: origin, worker: origin % workerCount)
    for worker in 0..<workerCount where worker != best.worker {
      let other = assignment(origin: origin, worker: worker)
      if other.connections > 0, isLessBusy(other, than: best) { best = other }
    }
    loads[origin * workerCount + best.worker] += 1
    totals[best.worker] += 1
    best.troubles = troubles[origin]
    best.isUrgent = loads[origin * workerCount + best.worker] <= best.connections
    return best
  }

  mutating func release(origin: Int, worker: Int) {
    loads[origin * workerCount + worker] -= 1
    totals[worker] -= 1
  }

  func authority(of origin: Int) -> String {
    authorities[origin]
  }

  mutating func recordTrouble(of origin: Int) {
    troubles[origin] += 1
  }

  private func isLessBusy(_ a: Assignment, than b: Assignment) -> Bool {
    let loadOfA = loads[a.origin * workerCount + a.worker] * b.connections
    let loadOfB = loads[b.origin * workerCount + b.worker] * a.connections
    return (loadOfA, totals[a.worker]) < (loadOfB, totals[b.worker])
  }

  /// Returns a worker's share; the remainder goes to the first workers, rotated by host.
  private func assignment(origin: Int, worker: Int) -> Assignment {
    let shareCount = min(workerCount, connectionsPerHost)
    let rank = (worker + workerCount - origin % workerCount) % workerCount
    let streams = Self.streamsPerConnection * connectionsPerHost
    return Assignment(
      origin: origin,
      worker: worker,
      connections: Self.share(connectionsPerHost, shareCount, rank),
      streams: Self.share(streams, shareCount, rank)
    )
  }

  private static func share(_ amount: Int, _ shareCount: Int, _ rank: Int) -> Int {
    guard rank < shareCount else { return 0 }
    return amount / shareCount + (rank < amount % shareCount ? 1 : 0)
  }

  private mutating func number(of url: WebURL) -> Int {
    if let latest, latest.port == url.port, latest.scheme == url.scheme, latest.host == url.host {
      return latest.number
    }
    let authority = url.authority
    let number = numbers[authority] ?? numbers.count
    if number == numbers.count {
      numbers[authority] = number
      authorities.append(authority)
      troubles.append(0)
      loads.append(contentsOf: repeatElement(0, count: workerCount))
    }
    latest = (url.scheme, url.host, url.port, number)
    return number
  }
}
