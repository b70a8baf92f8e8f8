import Testing

@Suite("Whatever a server does", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MatrixTests {
  static let rows =
    StatusRows.all + FramingRows.all + ConnectionRows.all + RedirectRows.all + BusyRows.all
    + RangeRows.all + ConditionRows.all + BodyRows.all + CodingRows.all + HeaderRows.all

  private static let chosen = rows.filter { row in
    Binary.rowWords.map { row.testDescription.contains($0) } ?? true
  }

  @Test(
    "the item ends as it should, and nothing wrong is stored",
    arguments: chosen,
    Situation.allCases
  )
  func rehearse(_ row: Row, _ situation: Situation) throws {
    try withKnownIssue(isIntermittent: true) {
      try Rehearsal(row, situation).play()
    } when: {
      NotYet.contains(row)
    }
  }

  @Test("no two rows have the same name")
  func names() {
    let names = Self.rows.map(\.testDescription)
    #expect(Set(names).count == names.count)
    #expect(NotYet.names.isSubset(of: names))
    #expect(names.count >= 120)
  }
}
