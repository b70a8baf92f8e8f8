/// What waits for a place on the wire, and how many places there are.
///
/// Lower priorities go first. Inside a priority the hosts take turns, so that none starves; a
/// host's own jobs go in order. Only hosts that may be asked now stand in a ring, which makes a
/// take independent of how many jobs wait and of how many hosts are full or held.
package struct TransferQueue: Sendable {
  /// Lower goes first: manifests before items, segments by priority and then as declared.
  package struct Rank: Hashable, Sendable {
    /// Decides between all jobs.
    package var priority: Int
    /// Decides between jobs of one priority and host.
    package var order: Int

    package init(priority: Int, order: Int) {
      self.priority = priority
      self.order = order
    }
  }

  /// The jobs of one host and priority.
  private struct Lane: Sendable {
    let host: Int32
    let level: Int32
    var jobs = JobLines.Line()
    var isReady = false
    /// Neighbours in the ring, while it is ready.
    var previous = TransferQueue.none
    var next = TransferQueue.none
    let nextOfHost: Int32
  }

  /// A priority, and the ring of its lanes that may start a job now.
  private struct Level: Sendable {
    let priority: Int
    var first = TransferQueue.none
    var last = TransferQueue.none
  }

  private struct Host: Sendable {
    var inFlight: Int32 = 0
    var isMultiplexed = false
    var restriction = Int32.max
    /// How many it may have beyond its places now; trouble takes them all, every answer gives one.
    var lookAhead: Int32
    var heldUntil: Duration?
    var firstLane = TransferQueue.none
  }

  private static let none: Int32 = -1

  /// The hosts that anything waited for; whoever asks about hosts uses the same numbers.
  package var table = HostTable()
  private var hosts: [Host] = []
  private var lanes: [Lane] = []
  private var levels: [Level] = []
  /// Places in ``levels``, by priority.
  private var ordered: [Int32] = []
  private var lines = JobLines()
  private var holds = WaitingLine()
  private var concurrency: Int
  private let perHost: Int32
  private var lookAhead: Int32
  /// Of all hosts, those beyond the places that each of them has.
  private var aheadCount: Int32 = 0
  package private(set) var inFlight = 0
  /// How many jobs wait.
  package private(set) var count = 0

  /// With `lookAhead` whoever takes jobs keeps to the other two limits, and has work in hand.
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
      change(Int32(host)) { $0.lookAhead = 0 }
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
    let number = lane(of: host, priority: rank.priority)
    lines.append(
      Int32(jobs.lowerBound)..<Int32(jobs.upperBound),
      order: Int32(clamping: rank.order),
      to: &lanes[number].jobs
    )
    count += jobs.count
    if !lanes[number].isReady, isOpen(lanes[number].host) { link(Int32(number)) }
  }

  /// The next job that may start now; it counts as in flight from here on.
  package mutating func take(at now: Duration) -> (job: Int, host: HostID)? {
    release(at: now)
    guard inFlight - Int(lookAhead) < concurrency else { return nil }
    for level in ordered {
      dropStalled(of: Int(level))
      let number = levels[Int(level)].first
      guard number != Self.none, let job = lines.removeFirst(of: &lanes[Int(number)].jobs)
      else { continue }
      let host = lanes[Int(number)].host
      inFlight += 1
      change(host) { $0.inFlight += 1 }
      count -= 1
      unlink(number)
      refresh(host)
      return (Int(job), HostID(host))
    }
    return nil
  }

  /// Takes out of the ring who would only look ahead, where others do so already.
  ///
  /// The end of one of its own jobs brings it back.
  private mutating func dropStalled(of level: Int) {
    while levels[level].first != Self.none {
      let host = lanes[Int(levels[level].first)].host
      guard !isOpen(host) else { return }
      refresh(host)
    }
  }

  /// Gives back a place; the version of the answer says how many the host has from now on.
  package mutating func finished(on host: HostID, httpVersion: String?) {
    free(host) { host in
      if let httpVersion {
        host.isMultiplexed = httpVersion != "1.1" && httpVersion != "1.0"
      }
    }
  }

  /// The same, and trouble leaves the host with its places alone.
  package mutating func finished(on host: HostID, _ result: TransferResult) {
    let limit = lookAhead
    change(host.number) { host in
      host.lookAhead = result.isTrouble ? 0 : min(host.lookAhead + 1, limit)
    }
    finished(on: host, httpVersion: result.figures.httpVersion)
  }

  /// Gives back the place of a job that did not start after all.
  package mutating func tookBack(from host: HostID) {
    free(host) { $0.lookAhead = 0 }
  }

  private mutating func free(_ host: HostID, _ body: (inout Host) -> Void) {
    reserve(host)
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

  private func ahead(_ host: Host) -> Int32 {
    max(0, host.inFlight - places(host))
  }

  private func places(_ host: Host) -> Int32 {
    min(host.isMultiplexed ? perHost * Self.streamsPerConnection : perHost, host.restriction)
  }

  /// Everything that has not started, by priority; the queue is empty afterwards.
  package mutating func drain() -> [Int] {
    var jobs: [Int] = []
    jobs.reserveCapacity(count)
    for number in byPriority(Array(lanes.indices)) { empty(number, into: &jobs) }
    return jobs
  }

  /// Everything that waits for one host, by priority; nothing of it waits any more.
  package mutating func removeAll(of host: HostID) -> [Int] {
    reserve(host)
    var numbers: [Int] = []
    var number = hosts[Int(host.number)].firstLane
    while number != Self.none {
      numbers.append(Int(number))
      number = lanes[Int(number)].nextOfHost
    }
    var jobs: [Int] = []
    for number in byPriority(numbers) { empty(number, into: &jobs) }
    return jobs
  }

  // MARK: Hosts

  /// Starts nothing more for the host before that uptime; an earlier hold does not shorten a later.
  package mutating func hold(_ host: HostID, until due: Duration) {
    reserve(host)
    let number = Int(host.number)
    guard hosts[number].heldUntil.map({ $0 < due }) ?? true else { return }
    hosts[number].heldUntil = due
    holds.insert(number, until: due)
    refresh(host.number)
  }

  /// At most so many of the host at once, nil for as many as any host may have.
  package mutating func restrict(_ host: HostID, to limit: Int?) {
    reserve(host)
    let restriction = limit.map { Int32(clamping: max(1, $0)) } ?? .max
    guard hosts[Int(host.number)].restriction != restriction else { return }
    change(host.number) { $0.restriction = restriction }
    refresh(host.number)
  }

  package func inFlight(on host: HostID) -> Int {
    host.number < hosts.count ? Int(hosts[Int(host.number)].inFlight) : 0
  }

  /// When a host that is held may go on; nil when nothing would start then.
  package var nextRelease: Duration? {
    count > 0 ? holds.earliest : nil
  }

  private mutating func release(at now: Duration) {
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

  private func isOpen(_ number: Int32) -> Bool {
    let host = hosts[Int(number)]
    guard host.heldUntil == nil else { return false }
    let places = places(host)
    if host.inFlight < places { return true }
    return host.restriction == .max && aheadCount < lookAhead
      && host.inFlight < places + host.lookAhead
  }

  /// Puts the host's lanes into their rings, at the end, or takes them out.
  private mutating func refresh(_ host: Int32) {
    let isOpen = isOpen(host)
    var number = hosts[Int(host)].firstLane
    while number != Self.none {
      let lane = lanes[Int(number)]
      let shouldBeReady = isOpen && !lane.jobs.isEmpty
      if shouldBeReady, !lane.isReady { link(number) }
      if !shouldBeReady, lane.isReady { unlink(number) }
      number = lane.nextOfHost
    }
  }

  // MARK: Lanes

  private mutating func lane(of host: HostID, priority: Int) -> Int {
    reserve(host)
    let first = hosts[Int(host.number)].firstLane
    var number = first
    while number != Self.none {
      if self.priority(of: Int(number)) == priority { return Int(number) }
      number = lanes[Int(number)].nextOfHost
    }
    lanes.append(Lane(host: host.number, level: level(of: priority), nextOfHost: first))
    hosts[Int(host.number)].firstLane = Int32(lanes.count - 1)
    return lanes.count - 1
  }

  private func priority(of lane: Int) -> Int {
    levels[Int(lanes[lane].level)].priority
  }

  private mutating func level(of priority: Int) -> Int32 {
    var place = ordered.count
    while place > 0, levels[Int(ordered[place - 1])].priority >= priority { place -= 1 }
    if place < ordered.count, levels[Int(ordered[place])].priority == priority {
      return ordered[place]
    }
    levels.append(Level(priority: priority))
    ordered.insert(Int32(levels.count - 1), at: place)
    return Int32(levels.count - 1)
  }

  private func byPriority(_ numbers: [Int]) -> [Int] {
    numbers.sorted { (priority(of: $0), $0) < (priority(of: $1), $1) }
  }

  private mutating func empty(_ number: Int, into jobs: inout [Int]) {
    while let job = lines.removeFirst(of: &lanes[number].jobs) {
      jobs.append(Int(job))
      count -= 1
    }
    if lanes[number].isReady { unlink(Int32(number)) }
  }

  private mutating func link(_ number: Int32) {
    let level = Int(lanes[Int(number)].level)
    let last = levels[level].last
    lanes[Int(number)].isReady = true
    lanes[Int(number)].previous = last
    lanes[Int(number)].next = Self.none
    levels[level].last = number
    if last == Self.none {
      levels[level].first = number
    } else {
      lanes[Int(last)].next = number
    }
  }

  private mutating func unlink(_ number: Int32) {
    let lane = lanes[Int(number)]
    let level = Int(lane.level)
    lanes[Int(number)].isReady = false
    if lane.previous == Self.none {
      levels[level].first = lane.next
    } else {
      lanes[Int(lane.previous)].next = lane.next
    }
    if lane.next == Self.none {
      levels[level].last = lane.previous
    } else {
      lanes[Int(lane.next)].previous = lane.previous
    }
  }

  /// Over HTTP/2 and HTTP/3 one connection carries so many requests at once.
  private static let streamsPerConnection: Int32 = 8
}

// MARK: - Hosts by name

extension TransferQueue {
  package mutating func append(_ job: Int, host: String, rank: Rank) {
    append(job, to: table.host(host), rank: rank)
  }

  /// The same as ``take(at:)`` for whoever holds no host.
  package mutating func take() -> (job: Int, host: String)? {
    take(at: .zero).map { (job: $0.job, host: table.name(of: $0.host)) }
  }

  package mutating func finished(on host: String, httpVersion: String?) {
    finished(on: table.host(host), httpVersion: httpVersion)
  }
}
