import PrefetchTestSupport
import Testing

@Suite(
  "A week of a kiosk",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: FakedProgram.isPossible, "needs faketime")
)
struct KioskWeekTests {
  /// `PREFETCH_ROUNDS=100` plays the long form, `PREFETCH_SEED` the week that it names.
  @Test("shows whole films of one edition at every moment, and asks for nothing that is forbidden")
  func week() throws {
    let seed = Binary.seed ?? 1
    let week = try KioskWeek(seed: seed)
    try week.play(times: Campaign.isLong ? 5 : 1)
    #expect(week.troubles.isEmpty, "seed \(seed): \(week.troubles.joined(separator: "\n"))")
    #expect(week.moments >= (Campaign.isLong ? 200 : 60), "seed \(seed): \(week.moments) moments")
    #expect(week.kills >= (Campaign.isLong ? 60 : 10), "seed \(seed): \(week.kills) power cuts")
  }
}
