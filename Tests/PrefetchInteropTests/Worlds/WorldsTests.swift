import Testing

/// Commands agree with each other and with the log of the origin, whatever the world is like.
///
/// Three kinds of differences are no subject here, since other suites hold them:
///
/// | difference | why not here | where |
/// |---|---|---|
/// | what fits into `cache.size`, `min_free` and limits of volume | which item is refused depends on sizes that come last | `PlanPredictionTests`, `LimitMeeting` |
/// | a second tier | the origin's log does not show what it answers | `Tier/` |
/// | how lists are read, and lists that fail | the items of the plan depend on it | `PlanPredictionTests`, `PrefetchManifestsTests` |
@Suite("Random worlds", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct WorldsTests {
  @Test(
    "Plan, run, get and serve agree with each other and with the origin",
    arguments: Binary.seed.map { [$0] } ?? (0..<UInt64(Binary.rounds)).map(\.self)
  )
  func agree(_ seed: UInt64) throws {
    var play = try WorldPlay(seed)
    try play.play()
  }

  @Test(
    "An item has the same body, outcome and room by a run and by `get`",
    arguments: Binary.seed.map { [$0] } ?? (0..<UInt64(Binary.rounds)).map(\.self)
  )
  func twins(_ seed: UInt64) throws {
    var play = try WorldPlay(seed, hasLists: false)
    try play.playTwins()
  }
}
