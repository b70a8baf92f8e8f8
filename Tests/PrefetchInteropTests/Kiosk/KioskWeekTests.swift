import PrefetchTestSupport
import Testing

@Suite(
  "A week of a kiosk",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: FakedProgram.isPossible, "needs faketime")
)
struct KioskWeekTests {
  /// `PREFETCH_ROUNDS=100` plays the long form, and `PREFETCH_SEED` selects the week.
  @Test("A week of a kiosk shows whole films of one edition and sends no forbidden request")
  func week() throws {
    let seed = Binary.seed ?? 1
    let week = try KioskWeek(seed: seed)
    try week.play(times: Campaign.isLong ? 6 : 1)
    if Campaign.isLong { print("moments \(week.moments), power cuts \(week.kills)") }
    #expect(week.troubles.isEmpty, "seed \(seed): \(week.troubles.joined(separator: "\n"))")
    #expect(week.moments >= (Campaign.isLong ? 200 : 60), "seed \(seed): \(week.moments) moments")
    #expect(week.kills >= (Campaign.isLong ? 100 : 10), "seed \(seed): \(week.kills) power cuts")
  }
}
