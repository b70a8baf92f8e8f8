import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

@Suite(
  "A plan predicts the run",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .predictionCount
)
struct PlanPredictionTests {
  fileprivate static let met = Mutex<[String: Int]>([:])

  @Test("A plan predicts the run in generated worlds", arguments: 0..<Binary.rounds)
  func planPredictsRun(_ round: Int) throws {
    let seed = Binary.seed ?? UInt64(round)
    let world = PlannedWorld(seed)
    let servers = try PlannedServers(world)
    let home = try Home(isInMemory: true)
    let jobs = ["--jobs", "\(world.jobs)"]
    if world.begins {
      home.configure(world.configuration(in: 0, servers))
      _ = try home.start(["run", "-q"] + jobs).finish()
      if !world.extras.isEmpty {
        let urls = world.extras.map { servers.address(of: $0) }
        _ = try home.start(["get", "-q"] + urls).finish()
      }
      servers.beginSecondAct()
    }
    home.configure(world.configuration(in: world.begins ? 1 : 0, servers))
    let arguments = world.arguments + jobs
    let before = FileTree.listing(home.folder.path)
    let lines = try home.start(["plan"] + arguments).finish()
    _ = servers.drainLog()
    let plan = try home.start(["plan", "--json", "--items", "all"] + arguments).finish()
    let planned = servers.drainLog()
    #expect(FileTree.listing(home.folder.path) == before, "seed \(seed): a plan wrote")
    let run = try home.start(["run", "--json", "--items", "all"] + arguments).finish()
    let requested = servers.drainLog()
    let comparison = try Comparison(
      seed: seed,
      world: world,
      servers: servers,
      lines: lines,
      plan: plan,
      run: run
    )
    comparison.check()
    if world.jobs == 1, !world.begins, comparison.areManifestsHere {
      comparison.checkOrder(planned, requested)
    }
    Self.met.withLock { met in
      for word in comparison.met { met[word, default: 0] += 1 }
    }
  }
}

/// Prints the features that occurred, and fails when a feature never did.
private struct PredictionCount: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await function()
    let met = PlanPredictionTests.met.withLock { $0 }
    print(
      "plans:",
      met.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    )
    guard Binary.rounds >= 50, Binary.seed == nil else { return }
    let wanted =
      ["fetch", "update", "revalidate", "keep", "remove", "defer", "fail"]
      + ["cache_full", "evicted", "free_disk", "daily_limit"]
      + [0, 2, 3, 4, 5, 69, 75, 77].map { "exit \($0)" }
    for word in wanted { #expect(met[word] != nil, "no plan had `\(word)`") }
  }
}

extension Trait where Self == PredictionCount {
  fileprivate static var predictionCount: Self { Self() }
}
