import PrefetchTestSupport
import Testing

@testable import PrefetchCore

@Suite struct OpeningHoursTests {
  private func hours(_ windows: [String], _ zone: String = "UTC0") throws -> [OpeningHours] {
    let rules = try #require(TimeZoneRules(posix: zone))
    return [OpeningHours(windows: try windows.map { try ClockWindow($0) }, zone: rules)]
  }

  private func instant(_ text: String) throws -> Instant {
    try #require(Timestamp.parse(text))
  }

  /// 2026-11-20 is a Friday.
  @Test(
    "Windows open and close by the local clock",
    arguments: [
      // windows, zone, now, next opening, next closing
      (["22:00-06:00"], "UTC0", "2026-11-20T21:59:59Z", "2026-11-20T22:00:00Z", nil),
      (["22:00-06:00"], "UTC0", "2026-11-20T22:00:00Z", "now", "2026-11-21T06:00:00Z"),
      (["22:00-06:00"], "UTC0", "2026-11-21T05:59:59Z", "now", "2026-11-21T06:00:00Z"),
      (["22:00-06:00"], "UTC0", "2026-11-21T06:00:00Z", "2026-11-21T22:00:00Z", nil),
      // A window past midnight belongs to the day on which it begins.
      (["fri 22:00-06:00"], "UTC0", "2026-11-21T03:00:00Z", "now", "2026-11-21T06:00:00Z"),
      (["fri 22:00-06:00"], "UTC0", "2026-11-20T03:00:00Z", "2026-11-20T22:00:00Z", nil),
      (["sun 23:00-01:00"], "UTC0", "2026-11-23T00:30:00Z", "now", "2026-11-23T01:00:00Z"),
      (["sat,sun 00:00-24:00"], "UTC0", "2026-11-21T12:00:00Z", "now", "2026-11-23T00:00:00Z"),
      (["mon-fri 09:00-17:30"], "UTC0", "2026-11-20T17:30:00Z", "2026-11-23T09:00:00Z", nil),
      (["00:00-24:00"], "UTC0", "2026-11-20T12:00:00Z", "now", nil),
      (["00:00-12:00", "12:00-24:00"], "UTC0", "2026-11-20T12:00:00Z", "now", nil),
      (
        ["sat 22:00-24:00", "sun 00:00-02:00"], "UTC0", "2026-11-21T22:30:00Z", "now",
        "2026-11-22T02:00:00Z"
      ),
      (["01:00-02:00"], "IST-5:30", "2026-11-20T12:00:00Z", "2026-11-20T19:30:00Z", nil),
      // The clock is set forward into a window, past a whole one, and out of one.
      (
        ["02:30-05:00"], TimeZoneTests.berlin, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", nil
      ),
      (
        ["02:10-02:50"], TimeZoneTests.berlin, "2026-03-28T12:00:00Z", "2026-03-30T00:10:00Z", nil
      ),
      (
        ["01:00-02:30"], TimeZoneTests.berlin, "2026-03-29T00:30:00Z", "now",
        "2026-03-29T01:00:00Z"
      ),
      (
        ["sun 02:10-02:50"], TimeZoneTests.berlin, "2026-03-28T12:00:00Z",
        "2026-04-05T00:10:00Z", nil
      ),
      // The clock is set back: the hour occurs twice, and so does a window in it.
      (
        ["02:30-02:45"], TimeZoneTests.berlin, "2026-10-25T00:30:00Z", "now",
        "2026-10-25T00:45:00Z"
      ),
      (
        ["02:30-02:45"], TimeZoneTests.berlin, "2026-10-25T00:45:00Z", "2026-10-25T01:30:00Z", nil
      ),
      (
        ["22:00-02:30"], TimeZoneTests.berlin, "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", nil
      ),
      (
        ["22:00-06:00"], TimeZoneTests.berlin, "2026-10-24T21:00:00Z", "now",
        "2026-10-25T05:00:00Z"
      ),
      (
        ["22:00-06:00"], TimeZoneTests.berlin, "2026-03-28T21:00:00Z", "now",
        "2026-03-29T04:00:00Z"
      ),
      (
        ["02:00-03:00"], "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:00:00Z",
        "2026-10-03T15:30:00Z", nil
      ),
    ] as [([String], String, String, String, String?)]
  )
  func changes(
    windows: [String],
    zone: String,
    now: String,
    opening: String,
    closing: String?
  ) throws {
    let hours = try hours(windows, zone)
    let now = try instant(now)
    #expect(hours.areOpen(at: now) == (opening == "now"))
    #expect(hours.nextOpening(from: now) == (opening == "now" ? now : try instant(opening)))
    #expect(hours.nextClosing(after: now) == (try closing.map { try instant($0) }))
  }

  @Test("Windows of several zones must agree, and otherwise never open")
  func several() throws {
    let both = try hours(["08:00-12:00"]) + hours(["08:00-12:00"], "IST-2")
    let morning = try instant("2026-11-20T06:30:00Z")
    #expect(both.nextOpening(from: morning) == (try instant("2026-11-20T08:00:00Z")))
    #expect(
      both.nextClosing(after: try instant("2026-11-20T09:00:00Z"))
        == (try instant("2026-11-20T10:00:00Z"))
    )
    let never = try hours(["08:00-09:00"]) + hours(["09:00-10:00"])
    #expect(never.nextOpening(from: morning) == nil)
  }

  /// A slow model: every minute of three weeks is looked at.
  @Test("The next turn is the first minute with another state", arguments: 0..<40)
  func everyMinute(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    let zones = [
      "UTC0", TimeZoneTests.berlin, "EST5EDT,M3.2.0,M11.1.0", "NZST-12NZDT,M9.5.0,M4.1.0/3",
    ]
    let zone = try #require(zones.randomElement(using: &generator))
    let days = ClockWindow.Day.allCases.filter { _ in generator.happens(40) }
    let start = Int.random(in: 0..<1440, using: &generator)
    let length = Int.random(in: 1...1440, using: &generator)
    let window = ClockWindow(
      days: days.isEmpty ? [.wednesday] : days,
      start: start,
      end: start + min(length, 1439)
    )
    let rules = try #require(TimeZoneRules(posix: zone))
    var windows = [window]
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let start = Int.random(in: 0..<1440, using: &generator)
      let day = ClockWindow.Day.allCases.randomElement(using: &generator) ?? .sunday
      let length = Int.random(in: 1..<1440, using: &generator)
      windows.append(ClockWindow(days: [day], start: start, end: start + length))
    }
    let hours = [OpeningHours(windows: windows, zone: rules)]
    let clockChanges = ["2026-03-08T07:00:00Z", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]
    let clockChange = second(try #require(clockChanges.randomElement(using: &generator)))
    let now = clockChange / 60 * 60 - Int64.random(in: -2000...4000, using: &generator) * 60
    let isOpen = hours.areOpen(at: Instant(seconds: now))
    let found = (1...30_240).first { minute in
      let later = Instant(seconds: now + Int64(minute) * 60)
      return hours.areOpen(at: later) != isOpen
    }
    let expected = found.map { Instant(seconds: now + Int64($0) * 60) }
    let actual =
      isOpen
      ? hours.nextClosing(after: Instant(seconds: now))
      : hours.nextOpening(from: Instant(seconds: now))
    #expect(actual == expected, "\(windows) in \(zone)")
  }
}
