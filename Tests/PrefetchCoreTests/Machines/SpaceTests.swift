import PrefetchCore
import Testing

@testable import PrefetchCore

/// Room for bodies without a dispatcher: grants, waiting items and evictions.
@Suite("Space")
struct SpaceTests {
  /// Returns a cache of undeclared bodies with these sizes, oldest first.
  static func space(
    limit: Int64?,
    held: [Int64] = [],
    isPinned: Bool = false,
    free: Int64? = nil,
    minimumFree: Int64 = 0,
    isDetailed: Bool = true
  ) -> Space {
    var rules = Room.Rules()
    rules.limit = limit
    rules.minimumFree = minimumFree
    rules.isAutomatic = !isPinned
    var space = Space(rules)
    _ = space.beginReading(inDetail: isDetailed)
    let rows = held.enumerated().map { number, size in
      Inventory.Row(
        key: URLKey("held \(number)"),
        item: Int64(number),
        digest: digest(number),
        size: size,
        state: .cached
      )
    }
    var reading = RoomReading(
      used: held.reduce(0, +),
      disk: free.map { DiskSpace(free: $0, size: 1000) },
      stock: isDetailed ? Stock(inventory: Inventory(rows: rows), used: held.reduce(0, +)) : nil
    )
    reading.version = 1
    for number in held.indices {
      reading.stock?.ages[number] = Stock.Age(lastUse: Instant(milliseconds: Int64(number + 1)))
    }
    let order = ContentOrder(
      identity: "me",
      rules: rules,
      recorded: [],
      now: Instant(milliseconds: 1_000_000)
    )
    _ = space.receive(reading, in: space.counts(reading) ? order : nil, predicts: false)
    return space
  }

  static func digest(_ number: Int) -> ContentDigest {
    ContentDigest(first: UInt64(number + 1), second: 1, third: 1, fourth: 1)
  }

  private static func need(
    _ size: Int64?,
    position: Int = 0,
    isNew: Bool = true,
    replacing: Int? = nil
  ) -> Space.Need {
    Space.Need(
      size: size,
      isNew: isNew,
      owner: .item(URLKey(replacing.map { "held \($0)" } ?? "new \(position)")),
      rank: .declared(priority: nil, segment: 1, position: Int64(position))
    )
  }

  private static func request(_ space: inout Space, _ item: Int, _ need: Space.Need) -> String {
    switch space.request(item, need) {
    case .granted(let grant):
      let evictedCount = grant.evicted.count
      return "room \(grant.roomLimit.map { "\($0)" } ?? "-") disk"
        + " \(grant.diskLimit.map { "\($0)" } ?? "-")\(evictedCount == 0 ? "" : " without \(evictedCount)")"
    case .waits(let measuring): return "waits \(measuring.map { "\($0)" } ?? "-")"
    case .parked: return "parked"
    case .full(let available): return "full \(available)"
    case .deferred(let free): return "deferred \(free)"
    }
  }

  struct First: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var space: @Sendable () -> Space
    var size: Int64?
    var isNew = true
    var replacing: Int?
    var expected: String
  }

  @Test(
    "The first request for room is answered",
    arguments: [
      First(
        testDescription: "has all of an empty cache",
        space: { SpaceTests.space(limit: 100) },
        size: 100,
        expected: "room 100 disk -"
      ),
      First(
        testDescription: "has at most the limit",
        space: { SpaceTests.space(limit: 100) },
        size: 101,
        expected: "parked"
      ),
      First(
        testDescription: "may push out what nothing declares",
        space: { SpaceTests.space(limit: 100, held: [60, 40]) },
        size: 50,
        expected: "room 100 disk -"
      ),
      First(
        testDescription: "cannot push out what has to stay",
        space: { SpaceTests.space(limit: 100, held: [60, 30], isPinned: true) },
        size: 20,
        expected: "parked"
      ),
      First(
        testDescription: "has what it replaces",
        space: { SpaceTests.space(limit: 100, held: [60, 40], isPinned: true) },
        size: 60,
        replacing: 0,
        expected: "room 60 disk -"
      ),
      First(
        testDescription: "that tells no size is bound by what there is",
        space: { SpaceTests.space(limit: 100, held: [90], isPinned: true) },
        size: nil,
        expected: "room 10 disk -"
      ),
      First(
        testDescription: "that is only looked at needs nothing in a full cache",
        space: { SpaceTests.space(limit: 100, held: [120], isPinned: true) },
        size: 50,
        isNew: false,
        expected: "room 1 disk -"
      ),
      First(
        testDescription: "fits beside what the disk must keep",
        space: { SpaceTests.space(limit: nil, free: 150, minimumFree: 100) },
        size: 50,
        expected: "room - disk -"
      ),
      First(
        testDescription: "that tells no size is bound by the disk",
        space: { SpaceTests.space(limit: nil, free: 150, minimumFree: 100) },
        size: nil,
        expected: "room - disk 50"
      ),
      First(
        testDescription: "waits for the bodies to be counted where the disk is short",
        space: { SpaceTests.space(limit: nil, free: 150, minimumFree: 100, isDetailed: false) },
        size: 51,
        expected: "waits true"
      ),
      First(
        testDescription: "pushes out the oldest where the disk is short",
        space: { SpaceTests.space(limit: nil, held: [5, 60], free: 120, minimumFree: 100) },
        size: 25,
        expected: "room - disk - without 1"
      ),
      First(
        testDescription: "is deferred where too little may go for the disk",
        space: { SpaceTests.space(limit: nil, held: [5], free: 120, minimumFree: 100) },
        size: 30,
        expected: "deferred 120"
      ),
      First(
        testDescription: "waits where nothing is known",
        space: { Space(Room.Rules()) },
        size: 1,
        expected: "waits false"
      ),
    ]
  )
  func first(_ row: First) {
    var space = row.space()
    let need = Self.need(row.size, isNew: row.isNew, replacing: row.replacing)
    #expect(Self.request(&space, 0, need) == row.expected)
  }

  @Test("Later items wait for room of earlier ones and continue when these need less")
  func waiting() {
    var space = Self.space(limit: 100)
    #expect(Self.request(&space, 1, Self.need(60, position: 1)) == "room 100 disk -")
    #expect(Self.request(&space, 2, Self.need(60, position: 2)) == "waits -")
    #expect(space.drainRetries() == [])
    // The item may evict lower-ranked bodies once its own has arrived, so it does not wait.
    #expect(Self.request(&space, 0, Self.need(60, position: 0)) == "room 100 disk -")
    space.end(0, leavesRoom: false)
    #expect(space.drainRetries() == [])
    space.reservations.settle(1, 30)
    space.end(1, leavesRoom: false)
    #expect(space.drainRetries() == [2])
    #expect(space.reservations.isEmpty && space.reservations.bytes == 0)
    #expect(Self.request(&space, 2, Self.need(60, position: 2)) == "room 100 disk -")
  }

  @Test("A parked item is checked once more at the end and then refused")
  func lastLook() {
    var space = Self.space(limit: 100, held: [90], isPinned: true)
    #expect(Self.request(&space, 1, Self.need(50, position: 1)) == "parked")
    #expect(Self.request(&space, 2, Self.need(10, position: 2)) == "room 10 disk -")
    #expect(space.queue.isParkedOnly)
    #expect(space.queue.drainParked() == [1])
    #expect(Self.request(&space, 1, Self.need(50, position: 1)) == "full 10")
    // An item that finds room may leave some for others, which are checked again.
    #expect(Self.request(&space, 3, Self.need(5, position: 0)) == "room 10 disk -")
    #expect(Self.request(&space, 4, Self.need(50, position: 4)) == "parked")
  }

  @Test("A growing body uses its reservation")
  func growing() {
    var space = Self.space(limit: nil, free: 200, minimumFree: 100)
    #expect(Self.request(&space, 1, Self.need(nil, position: 1)) == "room - disk 100")
    space.reservations.grow(1, by: 70)
    #expect(space.diskLeft == 30)
    space.reservations.settle(1, 80)
    space.reservations.grow(1, by: 5)
    #expect(space.diskLeft == 20)
    #expect(space.requestSimple(21) == nil)
    #expect(space.requestSimple(20)?.diskLimit == nil)
    #expect(space.requestSimple(nil) == nil)
    space.reservations.adopt(2, bytes: 20, isGrowing: false)
    space.end(2, leavesRoom: true)
    space.end(1, leavesRoom: false)
    #expect(space.reservations.isEmpty && space.diskLeft == 100)
  }

  @Test("Each commit of bodies needs one check for other writers")
  func checks() {
    var space = Self.space(limit: 100, held: [40])
    #expect(space.consumeCheck() == false)
    #expect(space.beginCheck() == false)
    var reading = RoomReading(used: 40)
    reading.version = 1
    #expect(space.receive(reading, in: nil, predicts: false) == false)
    #expect(space.consumeCheck() == true)
    #expect(space.consumeCheck() == false)
    // Another process has written, so the bodies are counted again.
    reading.version = 2
    _ = space.beginCheck()
    #expect(space.receive(reading, in: nil, predicts: false) == false)
    #expect(space.room == nil)
    #expect(space.consumeCheck() == false)
    #expect(space.beginCheck() == true)
  }

  @Test("A commit evicts as little as it must, and a refusal withdraws the eviction")
  func admission() {
    var space = Self.space(limit: 100, held: [30, 30, 30])
    let new = Space.Newcomer(
      rank: .declared(priority: nil, segment: 1, position: 1),
      bodies: [(Self.digest(9), 35)],
      owner: .item(URLKey("new"))
    )
    #expect(space.admit(new) == true)
    let evicted = space.drainEvicted()
    #expect(evicted == [Self.digest(0)] && space.evicted == [Self.digest(0)])
    space.refused(keeping: evicted)
    #expect(space.evicted == [] && space.room == nil)
  }

  @Test("A store that keeps refusing is no longer counted, until it accepts a body")
  func refusals() {
    var space = Self.space(limit: 100)
    var reading = RoomReading(used: 0, stock: Stock())
    for _ in 0..<3 {
      space.refused(keeping: [])
      #expect(space.counts(reading))
    }
    space.refused(keeping: [])
    #expect(!space.counts(reading))
    _ = space.beginReading(inDetail: true)
    #expect(space.receive(reading, in: nil, predicts: false) == true)
    // Only a body that replaces a stored one could still be admitted.
    #expect(space.room?.isCounted == false)
    #expect(Self.request(&space, 1, Self.need(1)) == "parked")
    reading.stock = nil
    space.committed(reading)
    #expect(space.room == nil && space.counts(RoomReading(stock: Stock())))
  }

  @Test("A dry run predicts what would not fit and what would be evicted")
  func forecast() {
    var space = Self.space(limit: 100, held: [30, 30, 30], free: 130, minimumFree: 100)
    _ = space.beginForecast()
    let first = Space.Coming(
      size: 60,
      rank: .declared(priority: nil, segment: 1, position: 1),
      key: URLKey("new")
    )
    #expect(space.predictLimitObjection(to: first) == nil)
    #expect(space.predictDiskObjection(to: first) == nil)
    space.predictAdmission(of: first)
    var second = first
    (second.key, second.rank) = (URLKey("next"), .declared(priority: nil, segment: 1, position: 2))
    guard case .full(let available) = space.predictLimitObjection(to: second) else {
      Issue.record("two of 60 in 100")
      return
    }
    #expect(available == 40)
    second.size = 41
    guard case .full(let left) = space.predictObjection(toUnrequested: second) else {
      Issue.record("41 beside 60 in 100")
      return
    }
    #expect(left == 40)
    let evicted = Set(space.endForecast())
    #expect(evicted == [Self.digest(0), Self.digest(1)])
    #expect(space.hasShrunk)
  }
}
