@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization
import Testing

@Suite(
  "Killed at any call",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Fault.library != nil, "\(Fault.absence)")
)
struct KillCampaignTests {
  /// Calls of each scenario that is left alone, counted once.
  private static let counts = Mutex<[KillScenario: Int]>([:])

  @Test(
    "A command killed at a file or network call loses nothing and leaves nothing wrong",
    arguments: Binary.seed.map { [Int($0)] } ?? Array(0..<Binary.rounds)
  )
  func killed(_ round: Int) throws {
    let scenarios = KillScenario.allCases
    let scenario = scenarios[round % scenarios.count]
    let total = try count(scenario)
    var random = SeededRandom(mixing: [round])
    let call = Int.random(in: 1...total, using: &random)

    let ground = try KillGround(scenario)
    try ground.prepare()
    let before = try ground.held()
    let run = try Fault(call: call).home(ground.home).run(ground.arguments)
    let context = "round \(round), \(scenario) at \(call) of \(total): \(Fault.report(ground.home))"
    #expect([0, 128 + SIGKILL].contains(run.status), "\(context): \(run)")
    try ground.checkKilled(before, context)
    try ground.checkNext(context)
  }

  private func count(_ scenario: KillScenario) throws -> Int {
    if let known = Self.counts.withLock({ $0[scenario] }) { return known }
    let ground = try KillGround(scenario)
    try ground.prepare()
    let run = try Fault(call: 0).home(ground.home).run(ground.arguments)
    let total = try #require(Int(Fault.report(ground.home)), "\(scenario): \(run)")
    Self.counts.withLock { $0[scenario] = total }
    return total
  }
}
