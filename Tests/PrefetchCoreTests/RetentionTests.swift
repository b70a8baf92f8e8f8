import PrefetchCore
import Testing

@Suite("Removals wait for their successors")
struct RetentionTests {
  private static let day: Int64 = 86_400_000

  private func result(_ outcome: ItemOutcome, _ code: ErrorCode? = nil) -> ItemResult {
    var result = ItemResult(
      url: "https://a.test/",
      id: "",
      segments: [],
      state: .pending,
      action: .fetch,
      reason: ""
    )
    result.outcome = outcome
    result.isUsable = outcome == .added
    result.failure = code.map { Failure($0, "") }
    return result
  }

  private func retention(_ results: ItemResult...) -> Retention {
    var retention = Retention()
    for result in results { retention.record(result) }
    return retention
  }

  @Test("Removals wait only while a required item without a body failed or is deferred")
  func need() {
    #expect(!retention().isNeeded)
    #expect(!retention(result(.added)).isNeeded)
    #expect(retention(result(.failed, .gone)).isNeeded)
    #expect(retention(result(.deferred)).isNeeded)
    #expect(!retention(result(.failed, .cacheFull)).isNeeded)
    var older = result(.failed, .gone)
    older.isUsable = true
    #expect(!retention(older).isNeeded)
  }

  /// Outcomes of one night per day, and whether the item is retained.
  @Test("Removals wait for seven days of failures, from the first stored successor on")
  func grace() {
    let failed = result(.failed, .gone)
    let nights: [(Retention, stays: Bool)] = [
      (retention(failed), true),
      (retention(failed), true),
      (retention(failed, result(.added)), true),
      (retention(failed), true),
      (retention(failed), true),
      (retention(result(.deferred), failed), true),
      (retention(result(.deferred)), true),
      (retention(failed), true),
      (retention(failed), true),
      (retention(failed), true),
      (retention(failed), true),
      (retention(failed), false),
    ]
    var recorded: [RetainedItem] = []
    for (night, (retention, stays)) in nights.enumerated() {
      let (staying, over) = retention.divide(
        [7],
        recorded: recorded,
        grace: .seconds(7 * 86_400),
        at: Instant(milliseconds: Int64(night) * Self.day)
      )
      #expect(over == (stays ? [] : [7]), "night \(night): \(staying)")
      recorded = staying
    }
  }

  @Test("A clock that was set back does not count towards the wait of removals")
  func clock() {
    let since = RetainedItem(item: 7, counted: .seconds(5), countedSince: Instant(seconds: 1000))
    let (staying, _) = retention(result(.failed, .gone)).divide(
      [7],
      recorded: [since],
      grace: .seconds(10),
      at: Instant(seconds: 500)
    )
    #expect(
      staying == [RetainedItem(item: 7, counted: .seconds(5), countedSince: Instant(seconds: 500))]
    )
  }
}
