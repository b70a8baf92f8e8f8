import PrefetchTestSupport
import Testing

@Suite(
  "Misbehaving servers",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .figures(.plainMatrix)
)
struct MatrixTests {
  static let rows =
    StatusRows.all + FramingRows.all + ConnectionRows.all + RedirectRows.all + BusyRows.all
    + RangeRows.all + ConditionRows.all + BodyRows.all + CodingRows.all + HeaderRows.all
    + DeceitRows.all

  static let chosen = rows.filter { row in
    Binary.rowWords.map { row.testDescription.contains($0) } ?? true
  }

  @Test(
    "The item ends as its row expects, whatever the server does, and nothing wrong is stored",
    arguments: Situation.direct.flatMap { MatrixBatch.of(chosen, in: $0) }
  )
  func play(_ batch: MatrixBatch) throws {
    try MatrixRun(batch, recovers: Binary.rounds >= 200).play(for: .plainMatrix)
  }

  @Test(
    "Every row of the matrix is played in every situation",
    arguments: Situation.allCases,
    Transport.allCases
  )
  func positions(_ situation: Situation, _ transport: Transport) {
    let played = MatrixBatch.of(Self.rows, in: situation, over: transport).flatMap(\.rows)
    #expect(played.map(\.testDescription).sorted() == Self.rows.map(\.testDescription).sorted())
  }

  @Test("No two rows of the matrix have the same name")
  func names() {
    let names = Self.rows.map(\.testDescription)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 200)
  }
}

extension Figures {
  static let plainMatrix = Figures("hostile", of: "behaviours", seed: 0)
}
