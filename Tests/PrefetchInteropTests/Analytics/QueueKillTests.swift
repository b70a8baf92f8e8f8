@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "The queue of events, killed at any moment",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct QueueKillTests {
  private let home: Home
  private let collector: Collector

  init() throws {
    home = try Home(isInMemory: true)
    collector = try Collector()
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 }, timeouts: { read: 200ms } }
      segments: [{ name: basics, urls: ["\(collector.server.address("/a"))"] }]
      analytics: { enabled: true, endpoint: "\(collector.endpoint)" }
      """
    )
  }

  /// Starts a process that may be killed; returns it with the names that it records.
  private func start(_ kind: Int, _ name: String) throws -> (RunningProgram, [String]) {
    switch kind {
    case 0: return (try home.start(["event", "log", name]), [name])
    case 1: return (try home.start(["event", "run", name, "--", "true"]), [name])
    case 2:
      try #require(home.run("event", "start", name).status == 0)
      return (try home.start(["event", "stop", name]), [name])
    case 3: return (try home.start(["event", "flush"]), [])
    default: return (try home.start(["run", "-q"]), [])
    }
  }

  @Test("A killed queue of events loses no acknowledged event and sends none under two ids")
  func survives() throws {
    var random = SeededRandom(11)
    var acknowledged: Set<String> = []
    var begun: Set<String> = []
    var killed = 0
    // Measured run times, so that kills occur at any moment of a process.
    var lives: [Int64] = []
    for kind in 0..<5 {
      let (program, names) = try start(kind, "first \(kind)")
      let birth = ContinuousClock.now
      try #require(program.finish().status == 0)
      lives.append(Int64((ContinuousClock.now - birth) / .microseconds(1)))
      acknowledged.formUnion(names)
    }
    var round = 0
    while killed < Binary.rounds, round < 20 * Binary.rounds {
      round += 1
      switch Int.random(in: 0..<4, using: &random) {
      case 0: collector.behave(.silent)
      case 1: collector.behave(.closing)
      default: collector.behave(.accepting)
      }
      // An event that is already recorded, and another recorded beside the victim.
      let event = "plain \(round)"
      try #require(home.run("event", "log", event).status == 0)
      acknowledged.insert(event)
      let (second, others) = try start(Int.random(in: 0..<5, using: &random), "beside \(round)")
      let (victim, names) = try start(round % 5, "round \(round)")
      begun.formUnion(names + others)
      let life = Int64.random(in: 0...(lives[round % 5] * 5 / 4), using: &random)
      let death = ContinuousClock.now + .microseconds(life)
      while ContinuousClock.now < death { sched_yield() }
      victim.signal(SIGKILL)
      let end = victim.finish()
      if end.status == 0 { acknowledged.formUnion(names) }
      if end.status == 128 + SIGKILL { killed += 1 }
      if second.finish().status == 0 { acknowledged.formUnion(others) }
      let list = try home.run("event", "list", "--json")
      #expect(list.status == 0, "round \(round): \(list)")
    }
    collector.behave(.accepting)
    #expect(try home.run("event", "flush").status == 0)
    #expect(try home.run("event", "list").lines.allSatisfy { $0.contains("\topen\t") })
    var ids: [String: Set<String>] = [:]
    for event in try collector.events() {
      ids[event.text("name") ?? "", default: []].insert(event.text("id") ?? "")
    }
    let lost = acknowledged.subtracting(ids.keys)
    #expect(lost.isEmpty, "\(lost.sorted())")
    #expect(Set(ids.keys).isSubset(of: acknowledged.union(begun)))
    for (name, ids) in ids { #expect(ids.count == 1, "\(name): \(ids)") }
    let all = ids.values.reduce(into: Set()) { $0.formUnion($1) }
    #expect(all.count == ids.count, "no id stands for two events")
    #expect(killed == Binary.rounds, "\(killed) in \(round) rounds")
  }
}
