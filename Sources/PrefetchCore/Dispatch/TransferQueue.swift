/// Queue of jobs, with the limits for requests in flight.
///
/// A free slot goes to the lowest rank; hosts with equal ranks take turns. Only hosts that may be
/// asked have a turn, so a take costs the same however many jobs wait.
package struct TransferQueue: Sendable {
  private struct Host: Sendable {
    var inFlight: Int32 = 0
    var connections: Int32
    var isMultiplexed = false
    var restriction = Int32.max
    /// Jobs beyond the host's slots: trouble takes them all, each good response adds one.
    var lookAhead: Int32
    var heldUntil: Duration?
    /// Number of the host's entry in `readyHosts`; zero for none.
    var readyNumber: Int64 = 0
    var rank: Rank?
    var isBarred = false
  }

  private struct ReadyHost: Comparable, Sendable {
    var rank: Rank
    var number: Int64
    var host: Int32

    static func < (a: Self, b: Self) -> Bool {
      (a.rank, a.number) < (b.rank, b.number)
    }
  }

  package var table = HostTable()
  private var hosts: [Host] = []
  private var lanes = HostLanes()
  private var readyHosts = Heap<ReadyHost>()
  private var readyCount: Int64 = 0
  private var open = OpenRanks()
  private var holds = BackoffQueue()
  private var barriersEverywhere = StartBarriers()
  private var barriersByHost: [Int32: StartBarriers] = [:]
  private var barredHosts: [Int32] = []
  private var concurrency: Int
  private let perHost: Int32
  private var lookAhead: Int32
  private var aheadCount: Int32 = 0
  package private(set) var inFlight = 0

  package var count: Int {
    lanes.count
  }

  /// Creates a queue; with `lookAhead` the caller gets jobs in advance and keeps the other limits.
  package init(concurrency: Int, perHost: Int, lookAhead: Int = 0) {
    self.concurrency = max(1, concurrency)
    self.perHost = Int32(clamping: max(1, min(perHost, 1 << 20)))
    self.lookAhead = Int32(clamping: max(0, min(lookAhead, 1 << 20)))
  }

  package mutating func setConcurrency(_ limit: Int) {
    concurrency = max(1, limit)
  }

  package mutating func stopLookingAhead() {
    guard lookAhead > 0 else { return }
    lookAhead = 0
    for host in hosts.indices {
      hosts[host].lookAhead = 0
      refresh(Int32(host))
    }
  }

  // MARK: In and out

  /// Queues a job; its number must be below 2³¹.
  package mutating func append(_ job: Int, to host: HostID, rank: Rank) {
    append(job..<(job + 1), to: host, rank: rank)
  }

  /// Queues consecutive jobs of a host at the cost of one.
  package mutating func append(_ jobs: Range<Int>, to host: HostID, rank: Rank) {
    guard !jobs.isEmpty else { return }
    reserve(host)
    let level = open.level(of: rank)
    let numbers = Int32(jobs.lowerBound)..<Int32(jobs.upperBound)
    lanes.append(numbers, to: host.number, rank: rank, level: level)
    open.add(jobs.count, at: level)
    refresh(host.number)
  }

  @discardableResult
  package mutating func withdraw(_ job: Int, from host: HostID, rank: Rank) -> Bool {
    guard let level = lanes.withdraw(Int32(job), from: host.number, rank: rank) else {
      return false
    }
    open.add(-1, at: level)
    return true
  }

  /// Counts a job that will be queued again: no job ranked after it is handed out in advance.
  package mutating func expect(_ job: Int, rank: Rank) {
    open.expect(Int32(job), at: open.level(of: rank))
  }

  package mutating func stopExpecting(_ job: Int) {
    open.end(Int32(job))
  }

  package mutating func dequeue(at now: Duration) -> (job: Int, host: HostID)? {
    release(at: now)
    while let ready = readyHosts.first {
      let host = ready.host
      guard hosts[Int(host)].readyNumber == ready.number else {
        _ = readyHosts.removeFirst()
        continue
      }
      guard let (rank, level) = lanes.first(of: host), rank == ready.rank, isOpen(host) else {
        _ = readyHosts.removeFirst()
        hosts[Int(host)].readyNumber = 0
        refresh(host)
        continue
      }
      guard mayStart(host) || mayLookAhead(host, level) else {
        guard hosts[Int(host)].inFlight >= slotCount(host) else { return nil }
        // Other hosts may have free slots; this one gets a turn when one of its jobs ends.
        _ = readyHosts.removeFirst()
        hosts[Int(host)].readyNumber = 0
        continue
      }
      _ = readyHosts.removeFirst()
      hosts[Int(host)].readyNumber = 0
      guard let job = lanes.removeFirst(of: host) else { continue }
      open.follow(job, at: level)
      inFlight += 1
      change(host) { $0.inFlight += 1 }
      refresh(host)
      return (Int(job), HostID(host))
    }
    return nil
  }

  /// Frees the slot of a job; the HTTP version decides how many slots the host has.
  package mutating func finished(_ job: Int, on host: HostID, httpVersion: String?) {
    free(job, host) { host in
      if let httpVersion {
        host.isMultiplexed = httpVersion != "1.1" && httpVersion != "1.0"
      }
    }
  }

  /// Frees the slot of a job; after trouble the host gets no jobs in advance.
  package mutating func finished(_ job: Int, on host: HostID, _ result: TransferResult) {
    let limit = lookAhead
    hosts[Int(host.number)].lookAhead =
      result.isTrouble ? 0 : min(hosts[Int(host.number)].lookAhead + 1, limit)
    // An answer of a second tier says nothing about the host's HTTP version.
    finished(job, on: host, httpVersion: result.isFromSecondTier ? nil : result.figures.httpVersion)
  }

  mutating func finished(_ job: Int, on host: HostID, _ outcome: Outcome) {
    let index = Int(host.number)
    hosts[index].lookAhead = min(hosts[index].lookAhead + 1, lookAhead)
    free(job, host) { host in
      if let version = outcome.version {
        host.isMultiplexed = version == .http2 || version == .http3
      }
    }
  }

  package mutating func releaseUnsent(_ job: Int, from host: HostID) {
    free(job, host) { $0.lookAhead = 0 }
  }

  private mutating func free(_ job: Int, _ host: HostID, _ body: (inout Host) -> Void) {
    reserve(host)
    open.end(Int32(job))
    inFlight -= 1
    change(host.number) { host in
      host.inFlight -= 1
      body(&host)
    }
    refresh(host.number)
  }

  private mutating func change(_ host: Int32, _ body: (inout Host) -> Void) {
    aheadCount -= ahead(hosts[Int(host)])
    body(&hosts[Int(host)])
    aheadCount += ahead(hosts[Int(host)])
  }

  package mutating func drain() -> [Int] {
    lanes.drain().map { job, level in
      open.add(-1, at: level)
      return Int(job)
    }
  }

  package mutating func removeAll(of host: HostID) -> [Int] {
    lanes.drain(host.number).map { job, level in
      open.add(-1, at: level)
      return Int(job)
    }
  }

  // MARK: Slots

  private func slotCount(_ host: Int32) -> Int32 {
    min(usualSlotCount(hosts[Int(host)]), hosts[Int(host)].restriction)
  }

  private func usualSlotCount(_ host: Host) -> Int32 {
    host.isMultiplexed ? host.connections * Self.streamsPerConnection : host.connections
  }

  private func ahead(_ host: Host) -> Int32 {
    max(0, host.inFlight - usualSlotCount(host))
  }

  private func mayStart(_ host: Int32) -> Bool {
    // Jobs in advance wait for slots of their own host.
    inFlight - Int(min(aheadCount, lookAhead)) < concurrency
      && hosts[Int(host)].inFlight < slotCount(host)
  }

  /// Whether the next job may be handed out in advance: only if no open job ranks before it.
  private mutating func mayLookAhead(_ host: Int32, _ level: Int32) -> Bool {
    guard lookAhead > 0, inFlight < concurrency + Int(lookAhead), canLookAhead(host) else {
      return false
    }
    return open.isFirst(level)
  }

  private func canLookAhead(_ number: Int32) -> Bool {
    let host = hosts[Int(number)]
    return host.restriction == .max && aheadCount < lookAhead
      && host.inFlight < usualSlotCount(host) + host.lookAhead
  }

  private func isOpen(_ number: Int32) -> Bool {
    let host = hosts[Int(number)]
    guard host.heldUntil == nil, host.inFlight < slotCount(number) || canLookAhead(number),
      let (rank, _) = lanes.first(of: number)
    else { return false }
    return !isBarred(rank, on: number)
  }

  private func isBarred(_ rank: Rank, on host: Int32) -> Bool {
    barriersEverywhere.bars(rank) || barriersByHost[host]?.bars(rank) == true
  }

  private mutating func refresh(_ host: Int32) {
    guard let (rank, _) = lanes.first(of: host) else { return }
    let index = Int(host)
    guard hosts[index].readyNumber == 0 || hosts[index].rank != rank else { return }
    if isBarred(rank, on: host), !hosts[index].isBarred {
      hosts[index].isBarred = true
      barredHosts.append(host)
    }
    guard isOpen(host) else { return }
    readyCount += 1
    hosts[index].readyNumber = readyCount
    hosts[index].rank = rank
    readyHosts.insert(ReadyHost(rank: rank, number: readyCount, host: host))
  }

  // MARK: Hosts

  /// Holds the host until that uptime; a later hold in force stays.
  package mutating func hold(_ host: HostID, until due: Duration) {
    reserve(host)
    let number = Int(host.number)
    guard hosts[number].heldUntil.map({ $0 < due }) ?? true else { return }
    hosts[number].heldUntil = due
    holds.insert(number, until: due)
  }

  package func isHeld(_ host: HostID) -> Bool {
    host.number < hosts.count && hosts[Int(host.number)].heldUntil != nil
  }

  package mutating func restrict(_ host: HostID, to limit: Int?) {
    reserve(host)
    hosts[Int(host.number)].restriction = limit.map { Int32(clamping: max(1, $0)) } ?? .max
    refresh(host.number)
  }

  /// Sets the number of connections to the host that the transport has found.
  package mutating func setConnections(_ count: Int, to host: HostID) {
    reserve(host)
    change(host.number) { $0.connections = Int32(clamping: max(1, count)) }
    refresh(host.number)
  }

  package func inFlight(on host: HostID) -> Int {
    host.number < hosts.count ? Int(hosts[Int(host.number)].inFlight) : 0
  }

  package var nextRelease: Duration? {
    count > 0 ? holds.earliest : nil
  }

  package mutating func release(at now: Duration) {
    while let number = holds.dequeue(at: now) {
      // A prolonged hold has another entry.
      guard let until = hosts[number].heldUntil, until <= now else { continue }
      hosts[number].heldUntil = nil
      refresh(Int32(number))
    }
  }

  private mutating func reserve(_ host: HostID) {
    while hosts.count <= host.number {
      hosts.append(Host(connections: perHost, lookAhead: lookAhead))
    }
  }

  /// Requests that one connection carries over HTTP/2 and HTTP/3.
  private static let streamsPerConnection: Int32 = 8
}

// MARK: - Start barriers

extension TransferQueue {
  mutating func addBarrier(_ barrier: StartBarrier) {
    switch barrier.ground {
    case .everywhere: barriersEverywhere.add(barrier.last)
    case .hosts(let ids):
      for id in ids { barriersByHost[id.number, default: StartBarriers()].add(barrier.last) }
    }
  }

  mutating func removeBarrier(_ barrier: StartBarrier) {
    switch barrier.ground {
    case .everywhere: barriersEverywhere.remove(barrier.last)
    case .hosts(let ids):
      for id in ids {
        barriersByHost[id.number]?.remove(barrier.last)
        if barriersByHost[id.number]?.last == nil { barriersByHost[id.number] = nil }
      }
    }
    let waiting = barredHosts
    barredHosts = []
    for host in waiting {
      hosts[Int(host)].isBarred = false
      refresh(host)
    }
  }
}
