import PrefetchCore
import Testing

@testable import PrefetchCore

@Suite struct TransferQueueTests {
  static func rank(_ priority: Int, _ order: Int = 0) -> TransferQueue.Rank {
    .init(priority: priority, order: order)
  }

  static func takeAll(_ queue: inout TransferQueue) -> [Int] {
    var jobs: [Int] = []
    while let taken = queue.take() { jobs.append(taken.job) }
    return jobs
  }

  @Test("Lower ranks go first, jobs of one rank in order")
  func ranks() {
    var queue = TransferQueue(concurrency: 10, perHost: 10)
    for (job, rank) in [(1, Self.rank(101)), (2, Self.rank(1, 5)), (3, Self.rank(1, 4)), (4, Self.rank(101))] {
      queue.append(job, host: "a", rank: rank)
    }
    #expect(Self.takeAll(&queue) == [3, 2, 1, 4])
  }

  @Test("Hosts take turns, and one at its cap does not hold up the others")
  func turns() {
    var queue = TransferQueue(concurrency: 10, perHost: 2)
    for job in 0..<4 { queue.append(job, host: "a", rank: Self.rank(1)) }
    for job in 10..<12 { queue.append(job, host: "b", rank: Self.rank(1)) }
    queue.append(20, host: "c", rank: Self.rank(2))
    #expect(Self.takeAll(&queue) == [0, 10, 1, 11, 20])
    #expect(queue.count == 2)
    queue.finished(on: "b", httpVersion: "1.1")
    #expect(queue.take() == nil)
    queue.finished(on: "a", httpVersion: "1.1")
    #expect(Self.takeAll(&queue) == [2])
  }

  @Test("Over HTTP/2 a host takes eight times as many, and loses that with the next answer")
  func multiplexed() {
    var queue = TransferQueue(concurrency: 100, perHost: 1)
    for job in 0..<30 { queue.append(job, host: "a", rank: Self.rank(1)) }
    #expect(Self.takeAll(&queue) == [0])
    queue.finished(on: "a", httpVersion: "2")
    #expect(Self.takeAll(&queue).count == 8)
    queue.finished(on: "a", httpVersion: nil)
    #expect(Self.takeAll(&queue).count == 1)
    queue.finished(on: "a", httpVersion: "1.1")
    #expect(Self.takeAll(&queue) == [])
  }

  @Test("At least one transfer may run, whatever was asked")
  func floor() {
    var queue = TransferQueue(concurrency: 0, perHost: -1)
    queue.append(1, host: "a", rank: Self.rank(1))
    #expect(Self.takeAll(&queue) == [1])
  }

  @Test("Draining gives what has not started, in order, and leaves nothing")
  func drain() {
    var queue = TransferQueue(concurrency: 1, perHost: 1)
    for job in [3, 1, 2] { queue.append(job, host: "a", rank: Self.rank(job)) }
    #expect(queue.take()?.job == 1)
    #expect(queue.drain() == [2, 3])
    #expect(queue.count == 0)
    queue.finished(on: "a", httpVersion: nil)
    #expect(queue.take() == nil)
  }

  @Test("Caps hold and each job is taken once, whatever the order", arguments: UInt64(0)..<50)
  func anyOrder(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let concurrency = Int.random(in: 1...6, using: &generator)
    let perHost = Int.random(in: 1...3, using: &generator)
    var queue = TransferQueue(concurrency: concurrency, perHost: perHost)
    var running: [(job: Int, host: String)] = []
    var taken: Set<Int> = []
    var added = 0
    for step in 0..<600 {
      if step < 400, generator.happens(50) {
        let host = ["a", "b", "c", "d"].randomElement(using: &generator) ?? "a"
        queue.append(added, host: host, rank: Self.rank(Int.random(in: 1...3, using: &generator)))
        added += 1
      } else if !running.isEmpty, generator.happens(50) {
        let index = Int.random(in: running.indices, using: &generator)
        queue.finished(on: running.remove(at: index).host, httpVersion: "1.1")
      } else if let next = queue.take() {
        #expect(taken.insert(next.job).inserted)
        running.append(next)
        #expect(running.count <= concurrency)
        #expect(running.count { $0.host == next.host } <= perHost)
      }
      #expect(queue.count == added - taken.count)
    }
    let rest = queue.drain()
    #expect(taken.isDisjoint(with: rest))
    #expect(taken.union(rest) == Set(0..<added))
    #expect(rest.count + taken.count == added)
  }

  @Test("Ten thousand hosts and ten thousand segments are lines like others")
  func large() {
    var queue = TransferQueue(concurrency: 8, perHost: 4)
    for job in 0..<10_000 { queue.append(job, host: "h\(job)", rank: Self.rank(1, job % 100)) }
    var count = 0
    while let next = queue.take() {
      queue.finished(on: next.host, httpVersion: nil)
      count += 1
    }
    #expect(count == 10_000)
  }
}

@Suite struct WaitingLineTests {
  @Test("Jobs come back when their moment has come, the earliest first", arguments: UInt64(0)..<20)
  func order(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var line = WaitingLine()
    let dues = (0..<50).map { _ in Duration.seconds(Int.random(in: 0..<20, using: &generator)) }
    for (job, due) in dues.enumerated() { line.insert(job, until: due) }
    #expect(line.earliest == dues.min())
    var taken: [Int] = []
    for now in 0..<10 {
      while let job = line.take(at: .seconds(now)) {
        #expect(dues[job] == .seconds(now))
        taken.append(job)
      }
    }
    let rest = line.drain()
    #expect(rest == dues.indices.filter { dues[$0] >= .seconds(10) })
    #expect(Set(taken).union(rest) == Set(dues.indices))
    #expect(line.isEmpty)
    #expect(line.take(at: .seconds(100)) == nil)
  }
}

@Suite struct CommitBatchTests {
  static let key = SegmentKey(identity: "me", name: "s")

  static func record(_ url: String) -> StoreChange {
    .record(ContentRecord(url: url, id: url), body: nil)
  }

  @Test("Records come before the memberships that name them, and one commit at a time")
  func order() {
    var batch = CommitBatch()
    #expect(!batch.isDue(now: .zero, isIdle: true))
    batch.join(Self.key, urls: ["b"], now: .zero)
    batch.add(item: 7, Self.record("a"), joining: [Self.key], url: "a", now: .zero)
    #expect(batch.isDue(now: .zero, isIdle: true))
    #expect(!batch.isDue(now: .zero, isIdle: false))
    #expect(batch.isDue(now: CommitBatch.patience, isIdle: false))
    let changes = batch.take()
    #expect(changes.count == 2)
    guard case .record = changes[0], case .join(Self.key, let urls) = changes[1] else {
      Issue.record("in another order")
      return
    }
    #expect(urls == ["b", "a"])
    batch.add(item: 8, Self.record("c"), joining: [], url: "c", now: .zero)
    #expect(!batch.isDue(now: .seconds(99), isIdle: true))
    #expect(batch.written() == [7])
    #expect(batch.isDue(now: .seconds(99), isIdle: true))
    #expect(batch.drop().items == [8])
    #expect(batch.isEmpty)
    #expect(batch.due == nil)
  }

  @Test("A full batch waits for nothing")
  func full() {
    var batch = CommitBatch()
    for item in 0..<CommitBatch.limit {
      #expect(!batch.isDue(now: .zero, isIdle: false))
      batch.add(item: item, Self.record("\(item)"), joining: [], url: "\(item)", now: .zero)
    }
    #expect(batch.isDue(now: .zero, isIdle: false))
  }
}
