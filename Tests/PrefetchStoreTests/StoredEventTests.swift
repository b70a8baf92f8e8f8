import PrefetchCore
import PrefetchStore
import Testing

@Suite("The queue of unsent events")
struct StoredEventTests {
  private let temporary: TemporaryCache
  private let now = Instant(seconds: 1_800_000_000)
  private let bounds = QueueBounds(count: 3, keep: .seconds(100))

  init() throws {
    temporary = try TemporaryCache()
  }

  private func open() throws -> StateStore {
    try StateStore.openForWriting(state: temporary.path + "/state")
  }

  private func event(_ id: String, at seconds: Int64 = 0) -> AnalyticsEvent {
    AnalyticsEvent(
      id: id,
      kind: .logged,
      name: "n-\(id)",
      at: now + .seconds(seconds),
      details: "{\"a\":1}"
    )
  }

  private func ids(_ state: StateStore, of identity: String? = "home") throws -> [String] {
    try state.queued(of: identity, atMost: 100).map(\.event.id)
  }

  @Test("The queue keeps each event for its identity until it is sent")
  func order() throws {
    let state = try open()
    try state.queue([event("1"), event("2")], of: "home", within: bounds, at: now)
    try state.queue([event("3")], of: "work", within: bounds, at: now)
    #expect(try state.queued(of: "home", atMost: 1).map(\.event) == [event("1")])
    try state.removeSent(try state.queued(of: "home", atMost: 1), of: "home")
    try state.close()
    let again = try open()
    #expect(try ids(again) == ["2"])
    #expect(try ids(again, of: nil) == ["2", "3"])
    #expect(try again.queuedCount(of: "work") == 1)
  }

  @Test("The queue drops its oldest events and counts them")
  func bounded() throws {
    let state = try open()
    for number in 1...5 {
      try state.queue([event("\(number)")], of: "home", within: bounds, at: now)
    }
    #expect(try ids(state) == ["3", "4", "5"])
    try state.queue([event("6", at: 90)], of: "home", within: bounds, at: now + .seconds(90))
    #expect(try ids(state) == ["4", "5", "6"])
    try state.expireQueued(of: "home", within: bounds, at: now + .seconds(101))
    #expect(try ids(state) == ["6"])
    let status = try state.queueStatus(of: "home")
    #expect(status.dropped == 3 && status.expired == 2)
    let none = QueueBounds(count: 0, keep: .seconds(100))
    try state.queue([event("7", at: 101)], of: "home", within: none, at: now + .seconds(101))
    #expect(try ids(state).isEmpty)
    #expect(try state.queueStatus(of: "home").dropped == 5)
    #expect(try state.queueStatus(of: "work") == QueueStatus())
  }

  @Test("The number of a removed event is not used again")
  func numbers() throws {
    let state = try open()
    try state.queue([event("1")], of: "home", within: bounds, at: now)
    let sent = try state.queued(of: "home", atMost: 10)
    let none = QueueBounds(count: 0, keep: .seconds(100))
    try state.queue([], of: "home", within: none, at: now)
    try state.queue([event("2")], of: "home", within: bounds, at: now)
    try state.removeSent(sent, of: "home")
    #expect(try ids(state) == ["2"])
  }

  @Test("The queue remembers the pause of a collector")
  func pause() throws {
    let state = try open()
    let pause = SendingPause().afterFailure(at: now, retryAfter: nil)
    try state.setPause(pause, of: "home")
    try state.queue([event("1")], of: "home", within: bounds, at: now)
    #expect(try state.queueStatus(of: "home").pause == pause)
    try state.removeSent(try state.queued(of: "home", atMost: 1), of: "home")
    #expect(try state.queueStatus(of: "home") == QueueStatus())
  }

  @Test("The queue has one open event of each name, which ends once")
  func lasting() throws {
    let state = try open()
    func start(_ id: String, _ name: String, at seconds: Int64) throws -> Instant? {
      let open = OpenEvent(name: name, id: id, started: now + .seconds(seconds))
      return try state.open(open, of: "home", within: bounds)
    }
    func end(_ name: String) throws -> AnalyticsEvent? {
      try state.end(name, of: "home", within: bounds, at: now) { open in
        AnalyticsEvent(id: open.id, kind: .timed, name: name, at: open.started, details: "{}")
      }
    }
    #expect(try start("1", "a", at: 0) == nil)
    #expect(try start("2", "b", at: 1) == nil)
    #expect(try start("3", "a", at: 2) == now)
    #expect(try state.openEvents(of: "home").map(\.id) == ["2", "3"])
    #expect(try end("a")?.id == "3")
    #expect(try end("a") == nil)
    #expect(try ids(state) == ["3"])
    // An event that did not end in time is forgotten.
    #expect(try start("4", "c", at: 102) == nil)
    #expect(try state.openEvents(of: nil).map(\.id) == ["4"])
  }

  @Test("The queue gets each quarter of an item once, until it has a new body")
  func quartiles() throws {
    let state = try open()
    var reported: [[Int]] = []
    func consume(_ quartiles: Quartiles, fetchedAt: Int64, at seconds: Int64) throws {
      _ = try state.consume(
        "https://a.example/1",
        quartiles,
        fetchedAt: now + .seconds(fetchedAt),
        of: "home",
        within: bounds,
        at: now + .seconds(seconds)
      ) { fresh in
        reported.append(fresh.percents)
        return event("\(reported.count)", at: seconds)
      }
    }
    let half = Quartiles.passed(from: .zero, to: .seconds(50), of: .seconds(100))
    let all = Quartiles.passed(from: .zero, to: nil, of: nil)
    try consume(half, fetchedAt: 0, at: 1)
    try consume(half, fetchedAt: 0, at: 2)
    try consume(all, fetchedAt: 0, at: 3)
    try consume(half, fetchedAt: 4, at: 5)
    #expect(reported == [[25, 50], [], [75, 100], [25, 50]])
    #expect(try state.consumptions() == ["https://a.example/1": now + .seconds(5)])
    #expect(try ids(state) == ["2", "3", "4"])
  }

  @Test("The queue is sent by one process at a time")
  func lock() throws {
    let path = temporary.path + "/state"
    let lock = try #require(try SendingLock.acquire(state: path))
    #expect(try SendingLock.acquire(state: path) == nil)
    withExtendedLifetime(lock) {}
  }
}
