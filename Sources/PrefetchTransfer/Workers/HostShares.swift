internal import PrefetchCore

/// Which worker asks which host, so that all workers together keep to what a host may get.
///
/// A host's connections are dealt out to the workers once and for all: its requests go to the least
/// busy worker that has some of them.
struct HostShares {
  struct Assignment: Hashable, Sendable {
    /// The number of the host and port; they count from zero.
    var origin: Int
    var worker: Int
    /// Of HTTP/1.1.
    var connections: Int
    /// Over one connection of HTTP/2 or 3.
    var streams: Int
    /// How often the host was known to be in trouble by then.
    var troubles = 0
    /// Whether the worker has a connection for it, as far as is known.
    var isUrgent = true
  }

  private static let streamsPerConnection = 8

  private let workerCount: Int
  private let connectionsPerHost: Int
  private var numbers: [String: Int] = [:]
  /// Most requests go where the one before them went.
  private var latest: (scheme: WebURL.Scheme, host: String, port: Int, number: Int)?
  /// Transfers in work, by origin and worker.
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

  /// Requests handed over for the host from now on know of one trouble more.
  mutating func noteTrouble(of origin: Int) {
    troubles[origin] += 1
  }

  private func isLessBusy(_ a: Assignment, than b: Assignment) -> Bool {
    let loadOfA = loads[a.origin * workerCount + a.worker] * b.connections
    let loadOfB = loads[b.origin * workerCount + b.worker] * a.connections
    return (loadOfA, totals[a.worker]) < (loadOfB, totals[b.worker])
  }

  /// The first workers get what cannot be divided; which is first differs from host to host.
  private func assignment(origin: Int, worker: Int) -> Assignment {
    let parts = min(workerCount, connectionsPerHost)
    let rank = (worker + workerCount - origin % workerCount) % workerCount
    let streams = Self.streamsPerConnection * connectionsPerHost
    return Assignment(
      origin: origin,
      worker: worker,
      connections: Self.share(connectionsPerHost, parts, rank),
      streams: Self.share(streams, parts, rank)
    )
  }

  private static func share(_ amount: Int, _ parts: Int, _ rank: Int) -> Int {
    guard rank < parts else { return 0 }
    return amount / parts + (rank < amount % parts ? 1 : 0)
  }

  private mutating func number(of url: WebURL) -> Int {
    if let latest, latest.port == url.port, latest.scheme == url.scheme, latest.host == url.host {
      return latest.number
    }
    let authority = url.authority
    let number = numbers[authority] ?? numbers.count
    if number == numbers.count {
      numbers[authority] = number
      troubles.append(0)
      loads.append(contentsOf: repeatElement(0, count: workerCount))
    }
    latest = (url.scheme, url.host, url.port, number)
    return number
  }
}
