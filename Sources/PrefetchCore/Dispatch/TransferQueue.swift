/// What waits for a place on the wire, and how many places there are.
///
/// A free place goes to the lowest rank that may use it. Hosts whose next jobs rank the same take
/// turns, so that none starves; a host's own jobs go in order. Only hosts that may be asked now have
/// a turn, which makes a take independent of how many jobs wait and of how many hosts are full, held
/// or held back.
package struct TransferQueue: Sendable {
  private struct Host: Sendable {
    var inFlight: Int32 = 0
    var isMultiplexed = false
    var restriction = Int32.max
    /// How many it may have beyond its places now; trouble takes them all, every answer gives one.
    var lookAhead: Int32
    var heldUntil: Duration?
    /// The number of its turn, zero for none.
    var turn: Int64 = 0
    /// Whose turn it is.
    var rank: Rank?
    /// Whether it has no turn since what it has ranks behind an item that is waited for.
    var isHeldBack = false
  }

  private struct Turn: Comparable, Sendable {
    var rank: Rank
    var number: Int64
    var host: Int32

    static func < (a: Self, b: Self) -> Bool {
      (a.rank, a.number) < (b.rank, b.number)
    }
  }

  /// The hosts that anything waited for; a caller that asks about hosts uses the same numbers.
  package var table = HostTable()
  private var hosts: [Host] = []
  private var lanes = HostLanes()
  private var turns = Heap<Turn>()
  private var turnCount: Int64 = 0
  private var open = OpenRanks()
  private var holds = WaitingLine()
  private var heldBackEverywhere = Holdbacks()
  private var heldBack: [Int32: Holdbacks] = [:]
  private var heldBackHosts: [Int32] = []
  private var concurrency: Int
  private let perHost: Int32
  private var lookAhead: Int32
  /// Of all hosts, those beyond the places that each of them has.
  private var aheadCount: Int32 = 0
  package private(set) var inFlight = 0

  /// How many jobs wait.
  package var count: Int {
    lanes.count
  }

  /// With `lookAhead` the caller keeps to the other two limits, and has work in hand.
  package init(concurrency: Int, perHost: Int, lookAhead: Int = 0) {
    self.concurrency = max(1, concurrency)
    self.perHost = Int32(clamping: max(1, min(perHost, 1 << 20)))
    self.lookAhead = Int32(clamping: max(0, min(lookAhead, 1 << 20)))
  }

  /// So many at once from now on; what is in flight stays there.
  package mutating func setConcurrency(_ limit: Int) {
    concurrency = max(1, limit)
  }

  /// Takes no more jobs than may be in flight from now on.
  package mutating func stopLookingAhead() {
    guard lookAhead > 0 else { return }
    lookAhead = 0
    for host in hosts.indices {
      hosts[host].lookAhead = 0
      refresh(Int32(host))
    }
  }

  // MARK: In and out

  /// Job numbers stay below 2³¹.
  package mutating func append(_ job: Int, to host: HostID, rank: Rank) {
    append(job..<(job + 1), to: host, rank: rank)
  }

  /// Consecutive jobs of one host, which cost no more than one.
  package mutating func append(_ jobs: Range<Int>, to host: HostID, rank: Rank) {
    guard !jobs.isEmpty else { return }
    reserve(host)
    let level = open.level(of: rank)
    let numbers = Int32(jobs.lowerBound)..<Int32(jobs.upperBound)
    lanes.append(numbers, to: host.number, rank: rank, level: level)
    open.add(jobs.count, at: level)
    refresh(host.number)
  }

  /// Takes out a job that waits for the host under that rank; false where it does not.
  @discardableResult
  package mutating func withdraw(_ job: Int, from host: HostID, rank: Rank) -> Bool {
    guard let level = lanes.withdraw(Int32(job), from: host.number, rank: rank) else {
      return false
    }
    open.add(-1, at: level)
    return true
  }

  /// A job that is in no line now and will come back to one: none behind it goes ahead of turn.
  package mutating func expect(_ job: Int, rank: Rank) {
    open.expect(Int32(job), at: open.level(of: rank))
  }

  /// It came back, or never will.
  package mutating func stopExpecting(_ job: Int) {
    open.end(Int32(job))
  }

  /// The next job that may start now; it counts as in flight from here on.
  package mutating func take(at now: Duration) -> (job: Int, host: HostID)? {
    release(at: now)
    while let turn = turns.first {
      let host = turn.host
      guard hosts[Int(host)].turn == turn.number else {
        _ = turns.removeFirst()
        continue
      }
      guard let (rank, level) = lanes.first(of: host), rank == turn.rank, isOpen(host) else {
        _ = turns.removeFirst()
        hosts[Int(host)].turn = 0
        refresh(host)
        continue
      }
      guard mayStart(host) || mayGoAhead(host, level) else {
        guard hosts[Int(host)].inFlight >= places(host) else { return nil }
        // Others may have a place; the end of one of its own jobs gives it a turn again.
        _ = turns.removeFirst()
        hosts[Int(host)].turn = 0
        continue
      }
      _ = turns.removeFirst()
      hosts[Int(host)].turn = 0
      guard let job = lanes.removeFirst(of: host) else { continue }
      open.follow(job, at: level)
      inFlight += 1
      change(host) { $0.inFlight += 1 }
      refresh(host)
      return (Int(job), HostID(host))
    }
    return nil
  }

  /// Gives back a job's place; the version of the answer says how many the host has from now on.
  package mutating func finished(_ job: Int, on host: HostID, httpVersion: String?) {
    free(job, host) { host in
      if let httpVersion {
        host.isMultiplexed = httpVersion != "1.1" && httpVersion != "1.0"
      }
    }
  }

  /// The same, and trouble leaves the host with its places alone.
  package mutating func finished(_ job: Int, on host: HostID, _ result: TransferResult) {
    let limit = lookAhead
    hosts[Int(host.number)].lookAhead =
      result.isTrouble ? 0 : min(hosts[Int(host.number)].lookAhead + 1, limit)
    // What speaks for a host says nothing of how that is spoken to.
    finished(job, on: host, httpVersion: result.isToldByTier ? nil : result.figures.httpVersion)
  }

  /// The same of an answer that was the one that was hoped for.
  mutating func finished(_ job: Int, on host: HostID, _ outcome: Outcome) {
    let place = Int(host.number)
    hosts[place].lookAhead = min(hosts[place].lookAhead + 1, lookAhead)
    free(job, host) { host in
      if let version = outcome.version {
        host.isMultiplexed = version == .http2 || version == .http3
      }
    }
  }

  /// Gives back the place of a job that did not start after all.
  package mutating func tookBack(_ job: Int, from host: HostID) {
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

  /// Everything that has not started, by rank; the queue is empty afterwards.
  package mutating func drain() -> [Int] {
    lanes.drain().map { job, level in
      open.add(-1, at: level)
      return Int(job)
    }
  }

  /// Everything that waits for one host, by rank; nothing of it waits any more.
  package mutating func removeAll(of host: HostID) -> [Int] {
    lanes.drain(host.number).map { job, level in
      open.add(-1, at: level)
      return Int(job)
    }
  }

  // MARK: Places

  /// How many a host may have of its own.
  private func places(_ host: Int32) -> Int32 {
    min(usualPlaces(hosts[Int(host)]), hosts[Int(host)].restriction)
  }

  private func usualPlaces(_ host: Host) -> Int32 {
    host.isMultiplexed ? perHost * Self.streamsPerConnection : perHost
  }

  private func ahead(_ host: Host) -> Int32 {
    max(0, host.inFlight - usualPlaces(host))
  }

  /// Whether there is a place on the wire for one more of the host's jobs.
  private func mayStart(_ host: Int32) -> Bool {
    // What is ahead of its turn waits for its own host's places.
    inFlight - Int(min(aheadCount, lookAhead)) < concurrency
      && hosts[Int(host)].inFlight < places(host)
  }

  /// Whether the host's next job may wait where it will start: only where nothing else that is open,
  /// or comes back, ranks before it, since no job overtakes it there.
  private mutating func mayGoAhead(_ host: Int32, _ level: Int32) -> Bool {
    guard lookAhead > 0, inFlight < concurrency + Int(lookAhead), canLookAhead(host) else {
      return false
    }
    return open.isFirst(level)
  }

  private func canLookAhead(_ number: Int32) -> Bool {
    let host = hosts[Int(number)]
    return host.restriction == .max && aheadCount < lookAhead
      && host.inFlight < usualPlaces(host) + host.lookAhead
  }

  private func isOpen(_ number: Int32) -> Bool {
    let host = hosts[Int(number)]
    guard host.heldUntil == nil, host.inFlight < places(number) || canLookAhead(number),
      let (rank, _) = lanes.first(of: number)
    else { return false }
    return !isHeldBack(rank, on: number)
  }

  private func isHeldBack(_ rank: Rank, on host: Int32) -> Bool {
    heldBackEverywhere.holdsBack(rank) || heldBack[host]?.holdsBack(rank) == true
  }

  /// Gives the host a turn for its next job, where that may start and has none.
  private mutating func refresh(_ host: Int32) {
    guard let (rank, _) = lanes.first(of: host) else { return }
    let place = Int(host)
    guard hosts[place].turn == 0 || hosts[place].rank != rank else { return }
    if isHeldBack(rank, on: host), !hosts[place].isHeldBack {
      hosts[place].isHeldBack = true
      heldBackHosts.append(host)
    }
    guard isOpen(host) else { return }
    turnCount += 1
    hosts[place].turn = turnCount
    hosts[place].rank = rank
    turns.insert(Turn(rank: rank, number: turnCount, host: host))
  }

  // MARK: Hosts

  /// Starts nothing more for the host before that uptime; an earlier hold does not shorten a later.
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

  /// At most so many of the host at once, nil for as many as any host may have.
  package mutating func restrict(_ host: HostID, to limit: Int?) {
    reserve(host)
    hosts[Int(host.number)].restriction = limit.map { Int32(clamping: max(1, $0)) } ?? .max
    refresh(host.number)
  }

  package func inFlight(on host: HostID) -> Int {
    host.number < hosts.count ? Int(hosts[Int(host.number)].inFlight) : 0
  }

  /// When a host that is held may go on; nil when nothing would start then.
  package var nextRelease: Duration? {
    count > 0 ? holds.earliest : nil
  }

  /// Lets hosts go on whose holds are over.
  package mutating func release(at now: Duration) {
    while let number = holds.take(at: now) {
      // A hold that was prolonged has another entry.
      guard let until = hosts[number].heldUntil, until <= now else { continue }
      hosts[number].heldUntil = nil
      refresh(Int32(number))
    }
  }

  private mutating func reserve(_ host: HostID) {
    while hosts.count <= host.number { hosts.append(Host(lookAhead: lookAhead)) }
  }

  /// Over HTTP/2 and HTTP/3 one connection carries so many requests at once.
  private static let streamsPerConnection: Int32 = 8
}

// MARK: - Held back

extension TransferQueue {
  /// Starts nothing that ranks behind an item that is about to be known.
  mutating func holdBack(_ holdback: Holdback) {
    switch holdback.ground {
    case .everywhere: heldBackEverywhere.add(holdback.last)
    case .hosts(let ids):
      for id in ids { heldBack[id.number, default: Holdbacks()].add(holdback.last) }
    }
  }

  mutating func endHoldback(_ holdback: Holdback) {
    switch holdback.ground {
    case .everywhere: heldBackEverywhere.remove(holdback.last)
    case .hosts(let ids):
      for id in ids {
        heldBack[id.number]?.remove(holdback.last)
        if heldBack[id.number]?.last == nil { heldBack[id.number] = nil }
      }
    }
    let waiting = heldBackHosts
    heldBackHosts = []
    for host in waiting {
      hosts[Int(host)].isHeldBack = false
      refresh(host)
    }
  }
}
