import PrefetchCore
import Testing

@testable import PrefetchCore

/// Components of the queue, each tested separately.
@Suite("Parts of the queue")
struct QueuePartsTests {
  private static func rank(_ priority: Int) -> Rank {
    Rank(itemOf: 0, priority: priority)
  }

  private static func all(_ lanes: inout HostLanes, of host: Int32) -> [Int32] {
    var jobs: [Int32] = []
    while let job = lanes.removeFirst(of: host) { jobs.append(job) }
    return jobs
  }

  @Test("A lane returns its host's jobs by rank, and equal ones in order of arrival")
  func lanes() {
    var lanes = HostLanes()
    lanes.append(0..<2, to: 0, rank: Self.rank(5), level: 0)
    lanes.append(2..<3, to: 0, rank: Self.rank(1), level: 1)
    lanes.append(3..<4, to: 0, rank: Self.rank(5), level: 0)
    lanes.append(4..<5, to: 1, rank: Self.rank(9), level: 2)
    #expect(lanes.count == 5 && lanes.first(of: 0)?.level == 1)
    #expect(Self.all(&lanes, of: 0) == [2, 0, 1, 3])
    #expect(lanes.count == 1 && lanes.first(of: 0) == nil && lanes.first(of: 7) == nil)
  }

  @Test("A withdrawn job is not returned, and an empty lane is removed")
  func withdrawing() {
    var lanes = HostLanes()
    lanes.append(0..<3, to: 0, rank: Self.rank(1), level: 4)
    #expect(lanes.withdraw(1, from: 0, rank: Self.rank(1)) == 4)
    #expect(lanes.withdraw(9, from: 0, rank: Self.rank(2)) == nil)
    #expect(lanes.withdraw(9, from: 3, rank: Self.rank(1)) == nil)
    #expect(lanes.count == 2)
    #expect(Self.all(&lanes, of: 0) == [0, 2])
    // The place of an empty lane is used again.
    lanes.append(7..<8, to: 2, rank: Self.rank(3), level: 0)
    #expect(Self.all(&lanes, of: 2) == [7])
  }

  @Test("Waiting jobs are drained by rank and host, or for one host")
  func draining() {
    var lanes = HostLanes()
    lanes.append(0..<1, to: 1, rank: Self.rank(2), level: 0)
    lanes.append(1..<2, to: 0, rank: Self.rank(2), level: 0)
    lanes.append(2..<3, to: 1, rank: Self.rank(1), level: 1)
    #expect(lanes.drain(1).map(\.job) == [2, 0])
    lanes.append(3..<4, to: 1, rank: Self.rank(1), level: 1)
    #expect(lanes.drain().map(\.job) == [3, 1])
    #expect(lanes.count == 0)
  }

  @Test("A rank is complete when none of its jobs waits, is in flight or will return")
  func openRanks() {
    var open = OpenRanks()
    let (high, low) = (open.level(of: Self.rank(1)), open.level(of: Self.rank(5)))
    #expect(open.level(of: Self.rank(1).begun(true)) == high)
    open.add(1, at: low)
    #expect(open.isFirst(high) == true)
    #expect(open.isFirst(low) == true)
    open.add(2, at: high)
    #expect(open.isFirst(low) == false)
    open.add(-2, at: high)
    open.expect(7, at: high)
    open.expect(7, at: high)
    #expect(open.isFirst(low) == false)
    open.end(7)
    open.end(7)
    #expect(open.isFirst(low) == true)
    open.add(1, at: high)
    open.follow(8, at: high)
    #expect(open.isFirst(low) == false)
    open.end(8)
    #expect(open.isFirst(low) == true)
  }

  @Test("No job after a start barrier starts until the barrier is released")
  func barriers() {
    var barriers = StartBarriers()
    #expect(!barriers.bars(Self.rank(9)))
    for priority in [3, 2, 2] { barriers.add(Self.rank(priority)) }
    #expect(barriers.last == Self.rank(2))
    #expect(!barriers.bars(Self.rank(2)) && barriers.bars(Self.rank(3)))
    barriers.remove(Self.rank(2))
    barriers.remove(Self.rank(7))
    #expect(barriers.last == Self.rank(2))
    barriers.remove(Self.rank(2))
    #expect(barriers.last == Self.rank(3))
    barriers.remove(Self.rank(3))
    #expect(barriers.last == nil && !barriers.bars(Self.rank(9)))
  }

  @Test("Jobs that wait for a time are returned after it, the earliest first")
  func backoffQueue() {
    var queue = BackoffQueue()
    for (job, due) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
      queue.insert(job, until: .seconds(due))
    }
    #expect(queue.earliest == .seconds(10))
    #expect(queue.dequeue(at: .seconds(9)) == nil)
    #expect(queue.dequeue(at: .seconds(20)) == 2)
    #expect(queue.dequeue(at: .seconds(20)) == 4)
    queue.remove([3, 9])
    #expect(queue.dequeue(at: .seconds(20)) == nil)
    queue.insert(0, until: .seconds(99))
    #expect(queue.drain() == [0, 1])
    #expect(queue.isEmpty && queue.earliest == nil)
  }

  @Test("A transfer is in flight from its start to its end, whatever happened to older ones")
  func inFlight() {
    var flight = InFlight()
    let ids = (0..<3000).map { flight.start(.item($0)) }
    #expect(flight.count == 3000 && flight[ids[2999]] == .item(2999))
    for id in ids.dropFirst(2).dropLast() { #expect(flight.end(id) != nil) }
    #expect(flight.end(ids[5]) == nil && flight[ids[5]] == nil)
    #expect(flight.ids == [ids[0], ids[1], ids[2999]])
    #expect(flight.end(ids[0]) == .item(0) && flight.end(ids[1]) == .item(1))
    #expect(flight.values == [.item(2999)])
    let document = flight.start(.document(4))
    #expect(flight[document] == .document(4) && flight.count == 2)
  }
}
