import PrefetchCore
import Testing

@Suite("Passed quarters of a film")
struct QuartileTests {
  @Test(
    "The passed quarters are those that end between two positions",
    arguments: [
      (0, nil, 100, [25, 50, 75, 100]), (0, 100, 100, [25, 50, 75, 100]), (0, 24, 100, []),
      (0, 25, 100, [25]), (25, 49, 100, [25]), (26, 80, 100, [50, 75]), (90, nil, 100, [100]),
      (90, 100, 100, [100]), (0, 99, 100, [25, 50, 75, 100]), (0, 98, 100, [25, 50, 75]),
      (0, 500, 100, [25, 50, 75, 100]), (200, 300, 100, []), (50, 50, 100, [50]),
      // Bodies of unknown length.
      (0, nil, nil, [25, 50, 75, 100]), (10, nil, nil, [100]), (0, 10, nil, []),
    ] as [(Int, Int?, Int?, [Int])]
  )
  func passed(start: Int, end: Int?, length: Int?, percents: [Int]) {
    let passed = Quartiles.passed(
      from: .seconds(start),
      to: end.map { .seconds($0) },
      of: length.map { .seconds($0) }
    )
    #expect(passed.percents == percents)
  }
}
