import PrefetchCore
import Testing

/// Returns the seconds of an RFC 3339 time.
func second(_ text: String) -> Int64 {
  Timestamp.parse(text)?.seconds ?? .min
}

@Suite struct TimeZoneTests {
  static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

  private func zone(_ text: String) throws -> TimeZoneRules {
    try #require(TimeZoneRules(posix: text))
  }

  @Test(
    "Clocks change when the rule says",
    arguments: [
      (Self.berlin, "2026-03-29T00:59:59Z", 3600), (Self.berlin, "2026-03-29T01:00:00Z", 7200),
      (Self.berlin, "2026-10-25T00:59:59Z", 7200), (Self.berlin, "2026-10-25T01:00:00Z", 3600),
      // A year beyond the zone file's table, and the last day of one.
      (Self.berlin, "2099-07-01T00:00:00Z", 7200), (Self.berlin, "2098-12-31T23:30:00Z", 3600),
      // Half an hour, south of the equator.
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:29:59Z", 37_800),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", 39_600),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04T15:00:00Z", 37_800),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39_600),
      ("NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-01-15T00:00:00Z", 46_800),
      ("NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-07-15T00:00:00Z", 43_200),
      ("EST5EDT,M3.2.0,M11.1.0", "2028-03-12T06:59:59Z", -18_000),
      ("EST5EDT,M3.2.0,M11.1.0", "2028-03-12T07:00:00Z", -14_400),
      // Before midnight, by hours beyond a day, and by the number of the day.
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600),
      ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-26T23:59:59Z", 7200),
      ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", 10_800),
      ("AAA0BBB,J60/0,J300/0", "2028-02-29T12:00:00Z", 0),
      ("AAA0BBB,J60/0,J300/0", "2028-03-01T00:00:00Z", 3600),
      ("AAA0BBB,59/0,299/0", "2028-02-29T00:00:00Z", 3600),
      ("UTC0", "2026-07-01T00:00:00Z", 0), ("<+0530>-5:30", "1999-01-01T00:00:00Z", 19_800),
      ("Europe-1:15:30", "2026-01-01T00:00:00Z", 4530),
    ]
  )
  func rules(rule: String, time: String, offset: Int64) throws {
    #expect(try zone(rule).offset(at: second(time)) == offset)
  }

  @Test(
    "An invalid rule is refused",
    arguments: [
      "", "C-1", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
      "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,M3.5.0,M10.5.0x", "<>-1",
      "CET-168", "CET-1:60", "Europe/Berlin",
    ]
  )
  func badRules(text: String) {
    #expect(TimeZoneRules(posix: text) == nil)
  }

  @Test("A skipped hour has no instant, and a repeated one has two")
  func mapping() throws {
    let berlin = try zone(Self.berlin)
    #expect(berlin.seconds(ofLocal: second("2026-03-29T02:30:00Z")) == [])
    #expect(
      berlin.seconds(ofLocal: second("2026-10-25T02:30:00Z"))
        == [second("2026-10-25T00:30:00Z"), second("2026-10-25T01:30:00Z")]
    )
    #expect(
      berlin.seconds(ofLocal: second("2026-06-01T12:00:00Z")) == [second("2026-06-01T10:00:00Z")]
    )
    let whole = berlin.changes(
      after: second("2026-01-01T00:00:00Z"),
      upTo: second("2027-01-01T00:00:00Z")
    )
    #expect(whole == [second("2026-03-29T01:00:00Z"), second("2026-10-25T01:00:00Z")])
  }

  @Test("A day begins at midnight, or when the clock is set past it")
  func days() throws {
    let berlin = try zone(Self.berlin)
    let noon = second("2026-10-25T10:00:00Z")
    let next = berlin.day(at: noon) + 1
    #expect(berlin.start(ofDay: next, after: noon) == second("2026-10-25T23:00:00Z"))
    // Beirut's clock goes from 23:59:59 to 01:00:00.
    let beirut = try zone("EET-2EEST,M3.5.0/0,M10.5.0/0")
    let evening = second("2026-03-28T20:00:00Z")
    let skipped = beirut.start(ofDay: beirut.day(at: evening) + 1, after: evening)
    #expect(skipped == second("2026-03-28T22:00:00Z"))
    #expect(beirut.local(at: skipped) == second("2026-03-29T01:00:00Z"))
  }

  @Test("A truncated or invalid zone file is refused")
  func badFiles() {
    #expect(TimeZoneRules(tzif: []) == nil)
    #expect(TimeZoneRules(tzif: Array("TZif2".utf8)) == nil)
    #expect(TimeZoneRules(tzif: [UInt8](repeating: 0xFF, count: 2000)) == nil)
  }
}
