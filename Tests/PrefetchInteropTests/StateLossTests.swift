@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A lost or unreadable state", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StateLossTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      .respond(200, [("Cache-Control", "max-age=3600")], text: "body of \(request.path)")
    }
    home.configure(
      """
      subscriptions: remembered
      cache: { min_free: 0 }
      segments:
        - { name: one, initial: true, urls: ["\(server.address("/1"))"] }
        - { name: two, urls: ["\(server.address("/2"))"] }
        - { name: three, urls: ["\(server.address("/3"))"] }
      """
    )
    try #require(home.run("run", "-q").status == 0)
    try #require(home.run("subscribe", "two", "-q").status == 0)
  }

  private var database: String { "\(home.state)/state.sqlite" }

  private func cached() throws -> [String] {
    let list = try home.run("list", "--json")
    #expect(list.status == 0, "\(list)")
    return try list.json().list("items").filter { $0.text("state") == "cached" }
      .compactMap { $0.text("url") }.sorted()
  }

  private var subscribed: [String] { ["/1", "/2"].map(server.address) }

  private func removeState() throws {
    try #require(home.tool("rm", "-rf", home.state).status == 0)
  }

  @Test("A run after the loss of the state unsubscribes nothing and reports that once")
  func segmentsStaySubscribedWithoutState() throws {
    try removeState()
    let plan = try home.run("plan")
    #expect(plan.status == 0 && !plan.output.contains("removed"), "\(plan)")
    let run = try home.run("run")
    #expect(run.status == 0 && !run.output.contains("removed"), "\(run)")
    #expect(run.errors.components(of: "state.no-subscriptions") == 1, "\(run)")
    #expect(try cached() == subscribed)
    let second = try home.run("run")
    #expect(second.status == 0 && !second.errors.contains("state.no-subscriptions"), "\(second)")
    #expect(try home.run("unsubscribe", "two", "-q").status == 0)
    #expect(try cached() == [server.address("/1")])
  }

  @Test("An unsubscribed segment stays so after the loss of the state")
  func leftSegmentStaysLeftWithoutState() throws {
    try #require(home.run("unsubscribe", "one", "-q").status == 0)
    try removeState()
    #expect(try home.run("run", "-q").status == 0)
    #expect(try cached() == [server.address("/2")])
  }

  @Test(
    "A read error of the state or the index ends with 74, sets nothing aside and removes nothing",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: ["state", "index"]
  )
  func readErrorSetsNothingAside(_ which: String) throws {
    let path = which == "state" ? database : "\(home.cache)/index.sqlite"
    var failures = 0
    for moment in [1, 2, 3, 4, 6, 8, 10, 12, 15, 19, 25] {
      let run = try home.run(
        "run",
        failing: "pread64",
        with: "EIO",
        on: [path],
        at: "\(moment)"
      )
      #expect([0, 74].contains(run.status), "read \(moment): \(run)")
      if run.status == 74 { failures += 1 }
      #expect(!run.output.contains("removed"), "read \(moment): \(run)")
      let names = FileTree.names(home.state) + FileTree.names(home.cache)
      #expect(!names.contains { $0.contains(".damaged-") }, "read \(moment): \(run)")
    }
    #expect(failures > 0)
    #expect(try home.run("run", "-q").status == 0)
    #expect(try cached() == subscribed)
  }

  @Test("The readable events of a damaged state are moved to the new one")
  func queuedEventsOutliveDamage() throws {
    // Long names leave room for few events per page.
    let count = 100
    let names = (0..<count).map { "event \($0) \(String(repeating: "x", count: 180))" }
    for name in names { try #require(home.run("event", "log", name).status == 0) }
    // The leaves of the events' B-tree stand at the end of the file, where the last one grew.
    var bytes = try #require(FileTree.read(database))
    let marks = bytes.indices(of: Array("event 50 ".utf8))
    let mark = try #require(marks.first)
    let page = mark / 4_096 * 4_096
    for index in page..<(page + 4_096) { bytes[index] = 0xff }
    FileTree.write(bytes, to: database)

    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("store.set-aside"), "\(run)")
    let kept = try home.run("event", "list", "--json").json().list("events")
      .compactMap { $0.text("name") }
    #expect(kept.count > count / 2 && kept.count < count, "\(kept.count)")
    #expect(kept.contains(names[0]) && kept.contains(names[count - 1]))
    #expect(kept == names.filter(Set(kept).contains), "their order is the old one")
    #expect(try cached() == subscribed)
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}

extension [UInt8] {
  /// Returns the indices at which these bytes begin.
  fileprivate func indices(of part: [UInt8]) -> [Int] {
    (0..<Swift.max(0, count - part.count)).filter {
      self[$0] == part[0] && self[$0...].starts(with: part)
    }
  }
}
