import Testing

@Suite("Misbehaving servers", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MatrixTests {
  static let rows =
    StatusRows.all + FramingRows.all + ConnectionRows.all + RedirectRows.all + BusyRows.all
    + RangeRows.all + ConditionRows.all + BodyRows.all + CodingRows.all + HeaderRows.all

  private static let chosen = rows.filter { row in
    Binary.rowWords.map { row.testDescription.contains($0) } ?? true
  }

  @Test(
    "The item ends as its row expects, whatever the server does, and nothing wrong is stored",
    arguments: MatrixBatch.of(chosen)
  )
  func play(_ batch: MatrixBatch) throws {
    try MatrixRun(batch).play()
  }

  @Test("Every row of the matrix is played in every situation")
  func positions() {
    for situation in Situation.allCases {
      let played = MatrixBatch.of(Self.rows).filter { $0.situation == situation }.flatMap(\.rows)
      #expect(played.map(\.testDescription).sorted() == Self.rows.map(\.testDescription).sorted())
    }
  }

  @Test("No two rows of the matrix have the same name")
  func names() {
    let names = Self.rows.map(\.testDescription)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 120)
  }
}
