import PrefetchCore
import Testing

@Suite struct UnitsTests {
  @Test(
    "Durations take a number, a fraction and one unit; bare numbers are seconds",
    arguments: [
      ("10s", 10_000), ("5m", 300_000), ("2h", 7_200_000), ("7d", 604_800_000), ("90", 90_000),
      ("0", 0), ("1.5h", 5_400_000), ("250ms", 250), ("0.25s", 250), ("10 s", 10_000),
    ] as [(String, Int64)]
  )
  func duration(text: String, milliseconds: Int64) {
    #expect(DurationText.parse(text) == .milliseconds(milliseconds))
  }

  @Test(
    "Other text is no duration",
    arguments: [
      "", "s", "-1s", "+1s", "1.", ".5s", "1..5s", "1h30m", "1w", "10  s", "10 ", " 10", "1e3s",
      "99999999999999999999s", "999999999999999999d", "10S",
      "0.0000000000000000000000000000000000000000001s",
    ]
  )
  func badDuration(text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test(
    "Sizes count in powers of 1000, and of 1024 with an i; bare numbers are bytes",
    arguments: [
      ("0", 0), ("512", 512), ("512B", 512), ("1kB", 1000), ("1KB", 1000), ("1KiB", 1024),
      ("100MB", 100_000_000), ("1.5 GiB", 1_610_612_736), ("2TB", 2_000_000_000_000),
      ("1TiB", 1_099_511_627_776), ("0.5kB", 500), ("unlimited", .max),
    ] as [(String, Int64)]
  )
  func size(text: String, bytes: Int64) {
    #expect(SizeText.parse(text) == bytes)
  }

  @Test(
    "Other text is no size",
    arguments: ["", "MB", "-1", "1.MB", "1  MB", "1Mi", "1M", "none", "10000000000TB", "1MB "]
  )
  func badSize(text: String) {
    #expect(SizeText.parse(text) == nil)
  }

  @Test(
    "A limit is shown to the byte",
    arguments: [
      (350_000, "350 kB"), (1_000_000, "1 MB"), (10 << 30, "10 GiB"), (1000 << 10, "1000 KiB"),
      (256_000, "256 kB"), (64_000_000, "64 MB"), (100_100, "100100 B"), (0, "0 B"),
    ] as [(Int64, String)]
  )
  func limit(bytes: Int64, shown: String) {
    #expect(SizeText.format(limit: bytes) == shown)
  }

  @Test(
    "Sizes side by side are exact where different ones would read alike",
    arguments: [
      ([350_000, 50_000, 100_000], ["350 kB", "50 kB", "100 kB"]),
      ([100_001, 100_000], ["100001 B", "100000 B"]),
      ([100_000, 100_000], ["100 kB", "100 kB"]), ([8, 3], ["8 B", "3 B"]), ([], []),
    ] as [([Int64], [String])]
  )
  func together(sizes: [Int64], shown: [String]) {
    #expect(SizeText.format(together: sizes) == shown)
  }
}
