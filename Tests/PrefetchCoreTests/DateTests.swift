import PrefetchCore
import Testing

@Suite struct DateTests {
  @Test(
    "The three forms of an HTTP date mean the same moment",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994",
    ]
  )
  func forms(text: String) {
    #expect(HTTPDate.parse(text) == Instant(seconds: 784_111_777))
  }

  @Test(
    "Other text is no HTTP date",
    arguments: [
      "", "0", "-1", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 29 Feb 2023 00:00:00 GMT",
      "Sun, 06-Nov-1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
      "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
      "06 Nov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, 06 Nov 194 08:49:37 GMT",
      "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:+9:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT",
      "1994-11-06T08:49:37Z",
    ]
  )
  func noDates(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("A year of two digits is between 1970 and 2069")
  func shortYears() {
    #expect(HTTPDate.parse("Thursday, 01-Jan-70 00:00:00 GMT") == Instant(seconds: 0))
    #expect(HTTPDate.parse("Tuesday, 01-Jan-69 00:00:00 GMT") == Instant(seconds: 3_124_224_000))
  }

  @Test("A leap second is the first of the next minute, also at the end of a year")
  func leapSeconds() {
    #expect(HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT") == Instant(seconds: 1_483_228_800))
    #expect(Timestamp.parse("2016-12-31T23:59:60Z") == Instant(seconds: 1_483_228_800))
  }

  @Test("Every day of four hundred years is formatted and parsed to the same day")
  func roundTrips() {
    var previousWeekday = ""
    for day in Int64(-49_710)...Int64(96_400) {
      let instant = Instant(seconds: day * 86_400 + (day * 7919 % 86_400 + 86_400) % 86_400)
      let http = HTTPDate.format(instant)
      guard HTTPDate.parse(http) == instant, Timestamp.parse(Timestamp.format(instant)) == instant
      else {
        Issue.record("\(http) on day \(day)")
        return
      }
      let weekday = String(http.prefix(3))
      guard weekday != previousWeekday else {
        Issue.record("two days named \(weekday) before \(http)")
        return
      }
      previousWeekday = weekday
    }
  }

  @Test(
    "Years begin and end by the calendar",
    arguments: [
      (-62_167_219_200, "0000-01-01T00:00:00.000Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
      (951_782_400, "2000-02-29T00:00:00.000Z"), (-2_203_891_200, "1900-03-01T00:00:00.000Z"),
      (4_107_542_400, "2100-03-01T00:00:00.000Z"), (0, "1970-01-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.000Z"),
    ] as [(Int64, String)]
  )
  func bounds(seconds: Int64, text: String) {
    #expect(Timestamp.format(Instant(seconds: seconds)) == text)
    #expect(Timestamp.parse(text) == Instant(seconds: seconds))
  }

  @Test(
    "RFC 3339 times carry a zone; a date alone is its midnight",
    arguments: [
      ("2026-11-20T05:00:00Z", 1_795_150_800_000), ("2026-11-20t05:00:00z", 1_795_150_800_000),
      ("2026-11-20 05:00:00Z", 1_795_150_800_000), ("2026-11-20T05:00:00.5Z", 1_795_150_800_500),
      ("2026-11-20T05:00:00.123999Z", 1_795_150_800_123),
      ("2026-11-20T07:30:00+02:30", 1_795_150_800_000),
      ("2026-11-20T00:00:00-05:00", 1_795_150_800_000), ("2026-11-20", 1_795_132_800_000),
    ] as [(String, Int64)]
  )
  func timestamps(text: String, milliseconds: Int64) {
    #expect(Timestamp.parse(text) == Instant(milliseconds: milliseconds))
  }

  @Test(
    "Other text is no timestamp",
    arguments: [
      "", "2026", "2026-11-31", "2026-13-01", "2026-11-20T05:00:00", "2026-11-20T05:00Z",
      "2026-11-20T24:00:00Z", "2026-11-20T05:00:00.Z", "2026-11-20T05:00:00+2:00",
      "2026-11-20T05:00:00+24:00", "2026-11-20T05:00:00ZZ", "26-11-20T05:00:00Z", "2026/11/20",
    ]
  )
  func noTimestamps(text: String) {
    #expect(Timestamp.parse(text) == nil)
  }

  @Test("The first and the last representable times are valid instants")
  func extremes() {
    #expect(Instant(milliseconds: .min).seconds == Int64.min / 1000 - 1)
    #expect(Instant(milliseconds: -1).seconds == -1)
    #expect(Instant(milliseconds: -1000).seconds == -1)
    #expect(Instant(milliseconds: 999).seconds == 0)
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    let (first, last) = (Instant(milliseconds: .min), Instant(milliseconds: .max))
    #expect(last - first == .milliseconds(Int64.max))
    #expect(first - last == .milliseconds(Int64.min))
  }
}
