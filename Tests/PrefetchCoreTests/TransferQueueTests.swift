import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchCore

@Suite struct TransferQueueTests {
  static func rank(_ priority: Int, _ order: Int = 0) -> Rank {
    Rank(itemOf: order, priority: priority)
  }

  static func dequeueAll(_ queue: inout TransferQueue) -> [Int] {
    var jobs: [Int] = []
    while let dequeued = queue.dequeue() { jobs.append(dequeued.job) }
    return jobs
  }

  @Test("Lower ranks start first, and jobs of one rank in order")
  func ranks() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    for (job, rank) in [
      (1, Self.rank(101)), (2, Self.rank(1, 5)), (3, Self.rank(1, 4)), (4, Self.rank(101)),
    ] {
      queue.append(job, host: "a", rank: rank)
    }
    #expect(Self.dequeueAll(&queue) == [3, 2, 1, 4])
  }

  @Test("Hosts take turns, and a full host does not delay others")
  func roundRobin() {
    var queue = TransferQueue(concurrency: 10, perHost: 2)
    for job in 0..<4 { queue.append(job, host: "a", rank: Self.rank(1)) }
    for job in 10..<12 { queue.append(job, host: "b", rank: Self.rank(1)) }
    queue.append(20, host: "c", rank: Self.rank(2))
    #expect(Self.dequeueAll(&queue) == [0, 10, 1, 11, 20])
    #expect(queue.count == 2)
    queue.finished(10, on: "b", httpVersion: "1.1")
    #expect(queue.dequeue() == nil)
    queue.finished(0, on: "a", httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [2])
  }

  @Test("A host with HTTP/2 takes eight times as many jobs, until another version answers")
  func multiplexed() {
    var queue = TransferQueue(concurrency: 100, perHost: 1)
    for job in 0..<30 { queue.append(job, host: "a", rank: Self.rank(1)) }
    #expect(Self.dequeueAll(&queue) == [0])
    queue.finished(0, on: "a", httpVersion: "2")
    #expect(Self.dequeueAll(&queue).count == 8)
    queue.finished(1, on: "a", httpVersion: nil)
    #expect(Self.dequeueAll(&queue).count == 1)
    queue.finished(2, on: "a", httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [])
  }

  @Test("At least one transfer may run, whatever the setting")
  func floor() {
    var queue = TransferQueue(concurrency: 0, perHost: -1)
    queue.append(1, host: "a", rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [1])
  }

  @Test("Draining returns unstarted jobs in order and leaves nothing")
  func drain() {
    var queue = TransferQueue(concurrency: 1, perHost: 1)
    for job in [3, 1, 2] { queue.append(job, host: "a", rank: Self.rank(job)) }
    #expect(queue.dequeue()?.job == 1)
    #expect(queue.drain() == [2, 3])
    #expect(queue.count == 0)
    queue.finished(1, on: "a", httpVersion: nil)
    #expect(queue.dequeue() == nil)
  }

  @Test("Ten thousand hosts and segments are handled in bounded time")
  func large() {
    var queue = TransferQueue(concurrency: 8, perHost: 4)
    for job in 0..<10_000 { queue.append(job, host: "h\(job)", rank: Self.rank(1, job % 100)) }
    var count = 0
    while let next = queue.dequeue() {
      queue.finished(next.job, on: next.host, httpVersion: nil)
      count += 1
    }
    #expect(count == 10_000)
  }

  @Test("A range of jobs equals its single jobs")
  func ranges() {
    var queue = TransferQueue(concurrency: .max, perHost: .max)
    let host = queue.table.host("a")
    queue.append(10..<13, to: host, rank: Self.rank(1, 2))
    queue.append(13, to: host, rank: Self.rank(1, 2))
    queue.append(20..<22, to: host, rank: Self.rank(1, 1))
    queue.append(22..<22, to: host, rank: Self.rank(0))
    queue.append(30..<31, to: host, rank: Self.rank(1, 1))
    queue.append(40..<41, to: host, rank: Self.rank(1, 2))
    #expect(queue.count == 8)
    #expect(Self.dequeueAll(&queue) == [20, 21, 30, 10, 11, 12, 13, 40])
  }

  @Test("A closed host gets nothing before its time, and the later time counts")
  func holds() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    let (a, b) = (queue.table.host("a"), queue.table.host("b"))
    queue.append(0..<2, to: a, rank: Self.rank(1))
    queue.append(2, to: b, rank: Self.rank(2))
    queue.hold(a, until: .seconds(5))
    queue.hold(a, until: .seconds(9))
    queue.hold(a, until: .seconds(7))
    #expect(queue.dequeue(at: .seconds(1))?.job == 2)
    #expect(queue.dequeue(at: .seconds(8)) == nil)
    #expect(queue.nextRelease == .seconds(9))
    #expect(queue.dequeue(at: .seconds(9))?.job == 0)
    #expect(queue.dequeue(at: .seconds(9))?.job == 1)
    #expect(queue.nextRelease == nil)
  }

  @Test("A restricted host gets at most its limit, and as many as others after that")
  func restrictions() {
    var queue = TransferQueue(concurrency: 10, perHost: 3)
    let host = queue.table.host("a")
    queue.append(0..<9, to: host, rank: Self.rank(1))
    queue.restrict(host, to: 1)
    #expect(Self.dequeueAll(&queue) == [0])
    queue.restrict(host, to: nil)
    #expect(Self.dequeueAll(&queue) == [1, 2])
    queue.restrict(host, to: 1)
    queue.finished(0, on: host, httpVersion: nil)
    queue.finished(1, on: host, httpVersion: nil)
    #expect(Self.dequeueAll(&queue) == [])
    #expect(queue.inFlight(on: host) == 1)
  }

  @Test("A look-ahead takes more jobs than slots, and no host takes the share of others")
  func lookAhead() {
    var queue = TransferQueue(concurrency: 6, perHost: 2, lookAhead: 4)
    let (a, b, c) = (queue.table.host("a"), queue.table.host("b"), queue.table.host("c"))
    queue.append(0..<20, to: a, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [0, 1, 2, 3, 4, 5])
    queue.append(20..<40, to: b, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [20, 21])
    queue.append(40..<60, to: c, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [40, 41])
    #expect(queue.inFlight == 10)
    queue.finished(20, on: b, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [22])
    queue.finished(0, on: a, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue).count == 1)
  }

  @Test("A failure removes a host's look-ahead, and every response returns one")
  func lookAheadAfterTrouble() {
    var queue = TransferQueue(concurrency: 20, perHost: 2, lookAhead: 4)
    let host = queue.table.host("a")
    queue.append(0..<40, to: host, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue).count == 6)
    queue.restrict(host, to: 1)
    for job in 0..<5 { queue.finished(job, on: host, httpVersion: "1.1") }
    #expect(Self.dequeueAll(&queue) == [])
    queue.restrict(host, to: nil)
    #expect(Self.dequeueAll(&queue).count == 5)
    let busy = TransferResponse(status: 503, headers: HeaderBlock([]), body: nil)
    let fine = TransferResponse(status: 304, headers: HeaderBlock([]), body: nil)
    let figures = TransferFigures()
    queue.finished(5, on: host, TransferResult(.success(busy), figures: figures))
    for job in 6..<9 { queue.releaseUnsent(job, from: host) }
    #expect(queue.inFlight(on: host) == 2)
    #expect(Self.dequeueAll(&queue) == [])
    queue.finished(9, on: host, TransferResult(.success(fine), figures: figures))
    #expect(Self.dequeueAll(&queue).count == 2)
    #expect(queue.inFlight(on: host) == 3)
  }

  @Test("A job is not taken ahead where a job of a higher rank could still overtake it")
  func lookAheadOfOneRank() {
    var queue = TransferQueue(concurrency: 4, perHost: 2, lookAhead: 4)
    let (a, b) = (queue.table.host("a"), queue.table.host("b"))
    queue.append(0..<3, to: a, rank: Self.rank(1))
    queue.append(10..<20, to: a, rank: Self.rank(2))
    queue.append(20..<30, to: b, rank: Self.rank(2))
    // All jobs of the first rank start, and of the others as many as have places.
    #expect(Self.dequeueAll(&queue) == [0, 1, 2, 20, 21])
    queue.finished(0, on: a, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [])
    queue.finished(1, on: a, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [10])
    // A returned job counts as much as a waiting one.
    queue.finished(2, on: a, httpVersion: "1.1")
    queue.expect(2, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [11])
    queue.finished(10, on: a, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [12])
    queue.stopExpecting(2)
    queue.finished(11, on: a, httpVersion: "1.1")
    #expect(Self.dequeueAll(&queue) == [13, 14, 15, 16, 17])
  }

  @Test("A start barrier stops lower ranks everywhere or on its hosts")
  func barriers() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    let (a, b) = (queue.table.host("a"), queue.table.host("b"))
    queue.append(1, to: a, rank: Self.rank(1))
    queue.append(2, to: a, rank: Self.rank(2))
    queue.append(3, to: a, rank: Self.rank(3))
    queue.append(4, to: b, rank: Self.rank(3))
    queue.append(5, to: b, rank: Self.rank(4))
    let here = StartBarrier(last: .last(ofPriority: 2), ground: .hosts([a]))
    let everywhere = StartBarrier(last: .last(ofPriority: 3), ground: .everywhere)
    queue.addBarrier(here)
    queue.addBarrier(here)
    queue.addBarrier(everywhere)
    #expect(Self.dequeueAll(&queue) == [1, 2, 4])
    queue.removeBarrier(everywhere)
    #expect(Self.dequeueAll(&queue) == [5])
    queue.removeBarrier(here)
    #expect(Self.dequeueAll(&queue) == [])
    queue.append(6, to: a, rank: Self.rank(1))
    #expect(Self.dequeueAll(&queue) == [6])
    queue.removeBarrier(here)
    #expect(Self.dequeueAll(&queue) == [3])
  }

  @Test("A withdrawn job does not start, whatever is before or after it")
  func withdrawal() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    let (a, b) = (queue.table.host("a"), queue.table.host("b"))
    queue.append(0..<4, to: a, rank: Self.rank(2))
    queue.append(9, to: a, rank: Self.rank(3))
    queue.withdraw(1, from: a, rank: Self.rank(2))
    queue.append(1, to: a, rank: Self.rank(1))
    queue.withdraw(3, from: a, rank: Self.rank(2))
    queue.withdraw(9, from: a, rank: Self.rank(3))
    queue.withdraw(9, from: b, rank: Self.rank(3))
    #expect(queue.count == 3)
    #expect(Self.dequeueAll(&queue) == [1, 0, 2])
    queue.append(3, to: a, rank: Self.rank(2))
    queue.append(9, to: a, rank: Self.rank(3))
    #expect(queue.drain() == [3, 9])
    #expect(queue.count == 0)
  }

  @Test("One host can be emptied while the others continue")
  func removal() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    let (a, b) = (queue.table.host("a"), queue.table.host("b"))
    queue.append(5, to: a, rank: Self.rank(2))
    queue.append(0..<3, to: a, rank: Self.rank(1))
    queue.append(9, to: b, rank: Self.rank(3))
    #expect(queue.dequeue(at: .zero)?.job == 0)
    #expect(queue.removeAll(of: a) == [1, 2, 5])
    #expect(queue.count == 1)
    #expect(Self.dequeueAll(&queue) == [9])
    queue.append(1, to: a, rank: Self.rank(2))
    #expect(Self.dequeueAll(&queue) == [1])
  }

  @Test(
    "Limits and order hold and nothing starves, in any order of events",
    arguments: UInt64(0)..<60
  )
  func anyOrder(seed: UInt64) {
    var model = QueueModel(seed: seed)
    for step in 0..<800 { model.step(mayAdd: step < 500) }
    model.finish()
    #expect(model.problems == [])
    #expect(model.dequeuedCount + model.drainedCount == model.addedCount)
  }

  @Test("Every waiting job is taken once nothing blocks it", arguments: UInt64(0)..<10)
  func liveness(seed: UInt64) {
    var model = QueueModel(seed: seed)
    for _ in 0..<300 { model.step(mayAdd: true) }
    model.runDry()
    #expect(model.problems == [])
    #expect(model.dequeuedCount + model.drainedCount == model.addedCount)
  }
}

@Suite struct BackoffQueueTests {
  @Test("Jobs return when their time has come, the earliest first", arguments: UInt64(0)..<20)
  func order(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    var queue = BackoffQueue()
    let dues = (0..<50).map { _ in Duration.seconds(Int.random(in: 0..<20, using: &generator)) }
    for (job, due) in dues.enumerated() { queue.insert(job, until: due) }
    #expect(queue.earliest == dues.min())
    var dequeued: [Int] = []
    for now in 0..<10 {
      while let job = queue.dequeue(at: .seconds(now)) {
        #expect(dues[job] == .seconds(now))
        dequeued.append(job)
      }
    }
    let rest = queue.drain()
    #expect(rest == dues.indices.filter { dues[$0] >= .seconds(10) })
    #expect(Set(dequeued).union(rest) == Set(dues.indices))
    #expect(queue.isEmpty)
    #expect(queue.dequeue(at: .seconds(100)) == nil)
  }
}

// MARK: - Hosts by name

extension TransferQueue {
  mutating func append(_ job: Int, host: String, rank: Rank) {
    append(job, to: table.host(host), rank: rank)
  }

  /// Takes the next job without a time limit, for callers without hosts.
  mutating func dequeue() -> (job: Int, host: String)? {
    dequeue(at: .zero).map { (job: $0.job, host: table.name(of: $0.host)) }
  }

  mutating func finished(_ job: Int, on host: String, httpVersion: String?) {
    finished(job, on: table.host(host), httpVersion: httpVersion)
  }
}
