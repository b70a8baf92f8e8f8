import Testing

@Suite("Whatever a server does", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MatrixTests {
  static let rows =
    StatusRows.all + FramingRows.all + ConnectionRows.all + RedirectRows.all + BusyRows.all
    + RangeRows.all + ConditionRows.all + BodyRows.all + CodingRows.all + HeaderRows.all

  @Test(
    "the item ends as it should, and nothing wrong is stored",
    arguments: rows,
    Situation.allCases
  )
  func rehearse(_ row: Row, _ situation: Situation) throws {
    try withKnownIssue(isIntermittent: true) {
      try Rehearsal(row, situation).play()
    } when: {
      NotYet.contains(row, situation)
    }
  }

  @Test("no two rows have the same name")
  func names() {
    let names = Self.rows.map(\.testDescription)
    #expect(Set(names).count == names.count)
    #expect(Set(NotYet.rows.keys).isSubset(of: names))
    #expect(names.count >= 120)
  }
}
