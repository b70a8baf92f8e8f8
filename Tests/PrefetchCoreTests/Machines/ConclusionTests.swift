import PrefetchCore
import Testing

@testable import PrefetchCore

/// Conclusions from responses, as a table of the one function that judges them.
@Suite("Conclusions")
struct ConclusionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var status = 200
    var tag: String?
    var hasBody = true
    var isConditional = false
    var stored: String? = "\"a\""
    var isContradicted = false
    var isFromTier = false
    var hasPart = false
    var hasAlternate = false
    var maySeekElsewhere = true
    var algorithms: Set<DigestAlgorithm> = []
    var objection: Failure?
    var conclusion: String
  }

  private static let wrong = Failure(.corrupted, "wrong")

  @Test(
    "A response leads to the expected conclusion",
    arguments: [
      Row(
        testDescription: "with a body against which nothing speaks is that body",
        conclusion: "body"
      ),
      Row(
        testDescription: "without one has none",
        status: 404,
        hasBody: false,
        conclusion: "bodiless"
      ),
      Row(
        testDescription: "304 with the tag that was asked with confirms",
        status: 304,
        tag: "\"a\"",
        hasBody: false,
        isConditional: true,
        conclusion: "confirmed"
      ),
      Row(
        testDescription: "304 without a tag confirms",
        status: 304,
        hasBody: false,
        isConditional: true,
        conclusion: "confirmed"
      ),
      Row(
        testDescription: "304 with another tag has the question put without conditions",
        status: 304,
        tag: "\"b\"",
        hasBody: false,
        isConditional: true,
        conclusion: "again, plain"
      ),
      Row(
        testDescription: "304 for what is known to be wrong has it put so, too",
        status: 304,
        tag: "\"a\"",
        hasBody: false,
        isConditional: true,
        isContradicted: true,
        conclusion: "again, plain"
      ),
      Row(
        testDescription: "unrequested 304 is no body",
        status: 304,
        tag: "\"a\"",
        hasBody: false,
        conclusion: "bodiless"
      ),
      Row(
        testDescription: "304 where nothing is stored is no body",
        status: 304,
        hasBody: false,
        isConditional: true,
        stored: nil,
        conclusion: "bodiless"
      ),
      Row(
        testDescription: "whose digests were not all taken is asked for again",
        algorithms: [.sha512],
        conclusion: "again"
      ),
      Row(testDescription: "that is wrong is refused", objection: wrong, conclusion: "refused"),
      Row(
        testDescription: "of a second tier that is wrong is asked of the origin",
        isFromTier: true,
        hasAlternate: true,
        objection: wrong,
        conclusion: "again"
      ),
      Row(
        testDescription: "that a kept part went into is asked for as a whole",
        status: 206,
        hasPart: true,
        hasAlternate: true,
        objection: wrong,
        conclusion: "again"
      ),
      Row(
        testDescription: "that is wrong beside a part that did not go into it is asked elsewhere",
        hasPart: true,
        hasAlternate: true,
        objection: wrong,
        conclusion: "elsewhere"
      ),
      Row(
        testDescription: "that is wrong is asked elsewhere",
        hasAlternate: true,
        objection: wrong,
        conclusion: "elsewhere"
      ),
      Row(
        testDescription: "that is wrong when there is no time left is refused",
        hasAlternate: true,
        maySeekElsewhere: false,
        objection: wrong,
        conclusion: "refused"
      ),
    ]
  )
  func conclude(_ row: Row) throws {
    let url = try WebURL("https://a.example/x")
    var exchange = Exchange(
      url: url,
      alternates: row.hasAlternate ? [try WebURL("https://b.example/x")] : [],
      conditions: row.isConditional ? Validators(entityTag: "\"a\"") : Validators(),
      partial: row.hasPart ? PartialBody(source: url.string, validator: "\"a\"", offset: 3) : nil
    )
    _ = exchange.nextRequest(TransferID(1))
    let headers = row.tag.map { [HeaderField("ETag", $0)] } ?? []
    let response = TransferResponse(
      status: row.status,
      headers: HeaderBlock(headers),
      body: row.hasBody ? StagedBody(id: 1, digest: .none, size: 1) : nil,
      tierRespondedAt: row.isFromTier ? Instant(milliseconds: 0) : nil
    )
    var expected = Expectation(
      stored: row.stored.map { Validators(entityTag: $0) },
      objection: row.objection
    )
    expected.isContradicted = row.isContradicted
    expected.algorithms = row.algorithms
    expected.maySeekElsewhere = row.maySeekElsewhere
    let conclusion = exchange.conclude(
      response,
      expecting: expected,
      policy: RunPolicy(),
      now: Instant(milliseconds: 0)
    )
    let word =
      switch conclusion {
      case .confirmed: "confirmed"
      case .body: "body"
      case .bodiless: "bodiless"
      case .again: row.isConditional && !exchange.isConditional ? "again, plain" : "again"
      case .elsewhere: exchange.isAlternate ? "elsewhere" : "nowhere"
      case .refused(let failure): failure == Self.wrong ? "refused" : "otherwise refused"
      }
    #expect(word == row.conclusion)
  }
}
