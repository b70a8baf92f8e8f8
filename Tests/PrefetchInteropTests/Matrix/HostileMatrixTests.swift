import PrefetchCore
import PrefetchTestSupport
import Testing

/// Rows of the matrix over other transports and in further situations.
///
/// `PREFETCH_ROUNDS=200` plays all of them; fewer rounds play a sample, which `PREFETCH_SEED`
/// selects.
@Suite(
  "Misbehaving servers over every transport",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .figures(.hostileMatrix)
)
struct HostileMatrixTests {
  private static let allRounds = 200

  /// All batches that `MatrixTests` does not play.
  private static let batches: [MatrixBatch] = Transport.possible.flatMap { transport in
    let rows = transport == .http2 ? sayableRows : MatrixTests.chosen
    return Situation.allCases.flatMap { situation -> [MatrixBatch] in
      guard transport != .plain || !Situation.direct.contains(situation) else { return [] }
      // No ranges are requested over HTTP/2.
      guard transport != .http2 || situation != .ranges else { return [] }
      return MatrixBatch.of(rows, in: situation, over: transport)
    }
  }

  private static let sample: [MatrixBatch] = {
    guard Binary.rounds < allRounds, Binary.rowWords == nil else { return batches }
    var random = SeededRandom(Binary.sampleSeed)
    let count = batches.count * Binary.rounds / (2 * allRounds)
    return Array(batches.shuffled(using: &random).prefix(max(1, count)))
  }()

  /// Rows whose behavior HTTP/2 can say.
  private static let sayableRows = MatrixTests.chosen.filter { row in
    Situation.direct.allSatisfy { situation in
      requests.allSatisfy { request, attempt in
        let scene = Scene(
          situation: situation,
          transport: .http2,
          request: request,
          attempt: attempt
        )
        return Speech(row.behaviour(scene)) != nil
      }
    }
  }

  /// Requests and attempts of all kinds that a row may treat differently.
  private static let requests = [
    ([], 1), ([], 2), ([], 3), ([("Accept-Encoding", "gzip")], 1),
    ([("If-None-Match", Scene.oldTag)], 1),
    ([("Range", "bytes=4096-"), ("If-Range", Scene.tag)], 1),
  ].map { fields, attempt in
    let fields = [HeaderField("Host", "127.0.0.1:1")] + fields.map { HeaderField($0.0, $0.1) }
    return (
      LoopbackRequest(method: "GET", target: "/item", headers: HeaderBlock(fields)), attempt
    )
  }

  @Test(
    "No misbehavior stores a wrong body, costs a good one, or outlives the server's trouble",
    arguments: sample
  )
  func play(_ batch: MatrixBatch) throws {
    try MatrixRun(batch, recovers: true).play(for: .hostileMatrix)
  }

  @Test("A status line of HTTP/2 counts only where the connection negotiated it")
  func foreignStatusLine() throws {
    for situation in Situation.direct {
      let row = try #require(
        MatrixTests.rows.first { $0.testDescription == "HTTP/2 over HTTP/1" }
      )
      let batch = MatrixBatch(situation: situation, transport: .tls, rows: [row])
      try MatrixRun(batch, recovers: true).play(for: .hostileMatrix)
    }
  }

  @Test("All cases together are as many as the campaign promises")
  func count() {
    guard Binary.rowWords == nil else { return }
    let played = Self.batches.reduce(0) { $0 + $1.rows.count }
    let direct = MatrixTests.rows.count * Situation.direct.count
    #expect(played + direct >= 3_600)
    #expect(Self.sayableRows.count >= 200 || !TLSServer.canSpeakHTTP2)
  }
}

extension Figures {
  static let hostileMatrix = Figures(
    "hostile",
    of: "behaviours",
    seed: Binary.sampleSeed
  )
}
