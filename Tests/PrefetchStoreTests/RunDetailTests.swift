import PrefetchCore
import Testing

@testable import PrefetchStore

@Suite("Details of past runs in the state")
struct RunDetailTests {
  private let temporary: TemporaryCache
  private let state: StateStore

  init() throws {
    temporary = try TemporaryCache()
    state = try StateStore.openForWriting(state: temporary.path + "/state")
  }

  private func record(
    _ number: Int,
    of identity: String = "home",
    segments: [(String, SegmentState)] = [("a", .current)],
    hosts: [String: Duration] = [:],
    exit: Int = 0,
    keeping: Int = 3
  ) throws {
    var run = RunRecord(
      id: "\(identity)-\(number)",
      identity: identity,
      mode: "run",
      started: Instant(seconds: Int64(number)),
      finished: Instant(seconds: Int64(number + 1)),
      exitCode: exit,
      exitName: "",
      totals: "{}"
    )
    run.segments = segments.map { name, state in
      SegmentRun(name: name, state: state, items: Int64(number), changed: 1, failed: 2)
    }
    for (host, time) in hosts { run.responseTimes[host, default: ResponseTimes()].record(time) }
    try state.recordRun(run, keeping: keeping)
  }

  @Test("Past runs are listed for each segment, newest first, up to a limit")
  func segments() throws {
    try record(1, segments: [("a", .current), ("b", .failed)])
    try record(2, of: "work", segments: [("a", .deferred)])
    try record(3, segments: [("a", .incomplete)])
    let runs = try state.segmentRuns(of: "home", atMost: 10)
    #expect(runs["a"]?.map(\.state) == [.incomplete, .current])
    #expect(runs["a"]?.map(\.run) == ["home-3", "home-1"])
    #expect(runs["b"]?.map(\.finished) == [Instant(seconds: 2)])
    #expect(runs["b"]?.map(\.items) == [1] && runs["b"]?.map(\.failed) == [2])
    #expect(try state.segmentRuns(of: "home", atMost: 1)["a"]?.map(\.run) == ["home-3"])
    #expect(try state.segmentRuns(of: "unknown", atMost: 1).isEmpty)
  }

  @Test("Details are removed with their run")
  func forgetting() throws {
    for number in 1...5 { try record(number, hosts: ["h": .milliseconds(number)]) }
    try record(1, of: "work", hosts: ["h": .seconds(1)])
    #expect(try state.segmentRuns(of: "home", atMost: 10)["a"]?.count == 3)
    #expect(try state.responseTimes(of: "home")["h"]?.responses == 3)
    #expect(try state.responseTimes(of: nil)["h"]?.responses == 4)
    try record(6, keeping: 0)
    #expect(try state.segmentRuns(of: "home", atMost: 10).isEmpty)
    #expect(try state.database.number("SELECT count(*) FROM run_segments") == 1)
    #expect(try state.database.number("SELECT count(*) FROM run_hosts") == 1)
  }

  @Test("Past runs have their most requested hosts with response times")
  func hosts() throws {
    var run = RunRecord(
      id: "many",
      identity: "home",
      mode: "run",
      started: Instant(seconds: 1),
      finished: Instant(seconds: 2),
      exitCode: 0,
      exitName: "ok",
      totals: "{}"
    )
    for host in 0..<150 {
      var times = ResponseTimes()
      for _ in 0...host { times.record(.milliseconds(20)) }
      run.responseTimes["h\(host)"] = times
    }
    try state.recordRun(run, keeping: 3)
    let times = try state.responseTimes(of: "home")
    #expect(times.count == 100 && times["h49"] == nil && times["h149"] == run.responseTimes["h149"])
  }

  @Test("The last success before a run is known")
  func success() throws {
    #expect(try state.lastSuccess(of: "home", before: "home-3") == nil)
    try record(1)
    try record(2, exit: 3)
    try record(3)
    #expect(try state.lastSuccess(of: "home", before: "home-3") == Instant(seconds: 2))
    #expect(try state.lastSuccess(of: "home", before: "") == Instant(seconds: 4))
    #expect(try state.lastSuccess(of: "work", before: "") == nil)
  }
}
