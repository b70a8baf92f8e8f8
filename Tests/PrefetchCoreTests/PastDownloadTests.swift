import PrefetchCore
import Testing

@Suite("Quality by the last download")
struct PastDownloadTests {
  @Test(
    "Each row of the table is read, and each bound belongs to its lower side",
    arguments: [
      (.low, 1.9, .high), (.low, 2, .medium), (.low, 2.9, .medium), (.low, 3, .low),
      (.low, 60, .low), (.medium, 2.9, .high), (.medium, 3, .medium), (.medium, 4.9, .medium),
      (.medium, 5, .low), (.medium, 60, .low), (.high, 4.9, .high), (.high, 5, .medium),
      (.high, 9.9, .medium), (.high, 10, .low), (.high, 60, .low),
    ] as [(BundleRules.Quality, Double, BundleRules.Quality)]
  )
  func rows(quality: BundleRules.Quality, seconds: Double, next: BundleRules.Quality) {
    #expect(PastDownload(quality: quality, seconds: seconds, bytes: 1).next == next)
  }

  @Test(
    "The position among several qualities is in rising order",
    arguments: [
      (1, [0, 0, 0]), (2, [0, 0, 1]), (3, [0, 1, 2]), (4, [0, 1, 3]), (5, [0, 2, 4]),
    ]
  )
  func indices(count: Int, expected: [Int]) {
    #expect(BundleRules.Quality.allCases.map { $0.index(among: count) } == expected)
  }
}
