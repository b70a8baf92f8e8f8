import Testing

@testable import PrefetchCore

@Suite("Timetables of rates")
struct RateTimetableTests {
  private func schedule(_ text: String, _ zone: String = "UTC0") throws -> RateSchedule? {
    let rules = try #require(TimeZoneRules(posix: zone))
    let entries = try RateTimetable.lines(text).map { line in
      RateTimetable.Change(days: line.entry.days, minute: line.entry.minute, rate: Int64(line.rate))
    }
    return RateSchedule(RateTimetable(entries), zone: rules)
  }

  /// 2026-11-20 is a Friday.
  @Test(
    "A rate holds from its time on, and the last one into the next week",
    arguments: [
      ("08:00 1, 18:00 2", "UTC0", "2026-11-20T08:00:00Z", 1),
      ("08:00 1, 18:00 2", "UTC0", "2026-11-20T17:59:59Z", 1),
      ("08:00 1, 18:00 2", "UTC0", "2026-11-20T18:00:00Z", 2),
      ("08:00 1, 18:00 2", "UTC0", "2026-11-20T07:59:59Z", 2),
      ("18:00 2, 08:00 1", "UTC0", "2026-11-23T00:00:00Z", 2),
      ("08:00 1, 18:00 unlimited", "UTC0", "2026-11-20T20:00:00Z", nil),
      ("08:00 1", "UTC0", "2026-11-20T07:00:00Z", 1),
      ("mon-fri 08:00 1, mon-fri 18:00 2", "UTC0", "2026-11-22T12:00:00Z", 2),
      ("mon-fri 08:00 1, sat,sun 00:00 9", "UTC0", "2026-11-22T12:00:00Z", 9),
      ("mon-fri 08:00 1, sat,sun 00:00 9", "UTC0", "2026-11-23T07:59:59Z", 9),
      ("sat , sun 00:00 9, mon 00:00 1", "UTC0", "2026-11-21T00:00:00Z", 9),
      ("08:00 1, 18:00 2", "IST-5:30", "2026-11-20T02:30:00Z", 1),
      ("08:00 1, 18:00 2", "IST-5:30", "2026-11-20T02:29:59Z", 2),
      // The clock is set back across the change, which occurs a second time.
      ("02:30 1, 03:00 2", TimeZoneTests.berlin, "2026-10-25T00:30:00Z", 1),
      ("02:30 1, 03:00 2, 02:00 3", TimeZoneTests.berlin, "2026-10-25T01:00:00Z", 3),
    ] as [(String, String, String, Int64?)]
  )
  func holding(text: String, zone: String, time: String, rate: Int64?) throws {
    let now = try #require(Timestamp.parse(time))
    #expect(try #require(try schedule(text, zone)).rate(at: now) == rate)
  }

  @Test("A timetable without a limit is none, and one with a single rate is steady")
  func simple() throws {
    #expect(try schedule("08:00 unlimited, 18:00 unlimited") == nil)
    #expect(RateSchedule.steady(5).isSteady)
    #expect(RateSchedule.steady(5).rate(at: Instant(seconds: 0)) == 5)
    #expect(try schedule("08:00 1, 18:00 2")?.isSteady == false)
  }

  @Test(
    "A malformed timetable is refused with a reason",
    arguments: [
      ("08:00", "`08:00` is not a time and rate"),
      ("8:00 1MB/s", "`8:00 1MB/s` is not a time and rate"),
      ("08:00 1, ", "`` is not a time and rate"),
      ("08:00 1, mon", "`mon,` is not a time and rate"),
      ("at 08:00 1", "`at` is not a day of the week"),
      ("mon tue 08:00 1", "`mon tue 08:00 1` is not a time and rate"),
      ("25:00 1", "`25:00` is not a time of day"),
      ("24:00 1", "a rate cannot begin at `24:00`"),
      ("08:00 1, 08:00 2", "two rates begin on mon at 08:00"),
      ("mon-wed 08:00 1, tue 08:00 2", "two rates begin on tue at 08:00"),
    ]
  )
  func malformed(text: String, message: String) {
    let error = #expect(throws: ClockWindow.Malformed.self) { try RateTimetable.lines(text) }
    #expect(error?.message == message)
  }
}
