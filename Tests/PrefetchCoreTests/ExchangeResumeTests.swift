import PrefetchCore
import Testing

/// An exchange with the clock and the policy of its requests.
private final class Asker {
  var exchange: Exchange
  var policy = RunPolicy()
  var deadline: Duration?
  var now = Moment(wall: Instant(seconds: 1_700_000_000), uptime: .seconds(100))
  private(set) var last: TransferRequest?

  init(_ exchange: Exchange) {
    self.exchange = exchange
  }

  /// Sends the next request, which ends with this result.
  func receive(_ result: TransferResult) -> Exchange.Step {
    last = exchange.nextRequest(TransferID(exchange.attempts))
    return exchange.receive(result, policy: policy, now: now, deadline: deadline, random: 0.5)
  }

  func word(_ result: TransferResult) -> String {
    ExchangeTests.word(receive(result))
  }
}

private func reply(
  _ status: Int,
  _ headers: [HeaderField] = [],
  hasBody: Bool = false
) -> TransferResult {
  let digest = ContentDigest(bytes: [UInt8](repeating: 7, count: 32))
  let body = hasBody ? digest.map { StagedBody(id: 1, digest: $0, size: 10) } : nil
  return TransferResult(
    .success(TransferResponse(status: status, headers: HeaderBlock(headers), body: body)),
    figures: TransferFigures()
  )
}

/// Returns a broken transfer; `kept` is the stored part, `hasBegun` whether a head arrived.
private func broken(
  _ code: ErrorCode = .reset,
  kept: Int64? = nil,
  hasBegun: Bool = true,
  isTransient: Bool = true
) -> TransferResult {
  var figures = TransferFigures()
  figures.firstByte = hasBegun ? .milliseconds(5) : nil
  return TransferResult(
    .failure(Failure(code, "broken", isTransient: isTransient)),
    figures: figures,
    partial: kept.map(part)
  )
}

private func part(_ offset: Int64) -> PartialBody {
  PartialBody(source: "https://a.example/x", validator: "\"1\"", offset: offset)
}

private func makeAsker(
  partial: PartialBody? = nil,
  alternates: [String] = [],
  headers: [HeaderField] = [],
  conditions: Validators = Validators()
) throws -> Asker {
  Asker(
    Exchange(
      url: try WebURL("https://a.example/x"),
      alternates: try alternates.map { try WebURL($0) },
      headers: headers,
      conditions: conditions,
      partialKey: "key",
      partial: partial
    )
  )
}

@Suite struct ExchangeResumeTests {
  @Test("A kept part is continued with a request for an uncoded body")
  func resumes() throws {
    let asker = try makeAsker()
    #expect(asker.word(broken(kept: 500)) == "wait")
    #expect(asker.last?.partial == nil)
    #expect(asker.last?.partialKey == "key")
    #expect(asker.last?.allowsCoding == true)
    #expect(asker.word(broken(kept: 700)) == "wait")
    #expect(asker.last?.partial == part(500))
    #expect(asker.last?.allowsCoding == false)
    #expect(asker.word(reply(206, hasBody: true)) == "answered 206")
    #expect(asker.last?.partial == part(700))
  }

  @Test("A part from an earlier run is continued by the first request")
  func earlierRun() throws {
    let asker = try makeAsker(partial: part(9))
    #expect(asker.word(reply(200, hasBody: true)) == "answered 200")
    #expect(asker.last?.partial == part(9))
    var probe = Exchange(url: try WebURL("https://a.example/x"), method: .head, partial: part(9))
    let request = probe.nextRequest(TransferID(1))
    #expect(request.partial == nil)
    #expect(request.partialKey == nil)
  }

  @Test(
    "A part survives a failure before the response, and not a response that kept none",
    arguments: [(false, 9), (true, nil)] as [(Bool, Int64?)]
  )
  func kept(hasBegun: Bool, offset: Int64?) throws {
    let asker = try makeAsker(partial: part(9))
    _ = asker.receive(broken(hasBegun: hasBegun))
    _ = asker.receive(reply(200, hasBody: true))
    #expect(asker.last?.partial?.offset == offset)
  }

  @Test(
    "A misfit part is dropped once for a whole request, without a lost attempt",
    arguments: [ErrorCode.badResponse, .storeDamaged, .disk]
  )
  func misfit(code: ErrorCode) throws {
    let asker = try makeAsker(partial: part(9))
    #expect(asker.word(broken(code)) == "ask")
    #expect(asker.word(broken(kept: 3)) == "wait")
    #expect(asker.last?.partial == nil)
    #expect(asker.word(broken(code)) == "wait")
    #expect(asker.last?.partial == part(3))
    #expect(asker.word(broken(code, isTransient: false)) == code.rawValue)
    #expect(asker.last?.partial == nil)
    #expect(asker.exchange.attempts == 4)
  }

  @Test("A 416 with a complete body ends it, and otherwise a whole request follows once")
  func unsatisfiable() throws {
    let complete = try makeAsker(partial: part(9))
    #expect(complete.word(reply(416, hasBody: true)) == "answered 416")
    // The transport, which keeps the head with the part, has described the whole already.
    let described = try makeAsker(partial: part(9))
    let type = HeaderField("Content-Type", "video/mp4")
    let step = described.receive(reply(416, [type], hasBody: true))
    guard case .responded(let response) = step else {
      Issue.record("\(step)")
      return
    }
    #expect(response.headers.fields == [type])
    let wrong = try makeAsker(partial: part(9))
    #expect(wrong.word(reply(416)) == "ask")
    #expect(wrong.word(reply(416)) == "answered 416")
    #expect(wrong.last?.partial == nil)
  }

  @Test("The headers of a 416 do not describe the body", arguments: ["\"a\"", "a date"])
  func describedAgain(_ validator: String) {
    var part = part(9)
    part.validator = validator
    let reply = HeaderBlock([
      HeaderField("Date", "today"), HeaderField("Content-Type", "text/html"),
      HeaderField("ETag", "of the page"), HeaderField("Cache-Control", "no-store"),
    ])
    let headers = ResumeRule.headers(ofWhole: part, by: reply)
    #expect(headers["Date"] == "today")
    #expect(headers["Content-Type"] == nil)
    #expect(headers["Cache-Control"] == nil)
    #expect([headers["ETag"], headers["Last-Modified"]].compactMap(\.self) == [validator])
  }

  @Test(
    "A retry after a broken coded body allows no coding",
    arguments: [(true, false), (false, true)]
  )
  func coding(hasBegun: Bool, allows: Bool) throws {
    let asker = try makeAsker()
    _ = asker.receive(broken(.truncated, hasBegun: hasBegun))
    _ = asker.receive(reply(200, hasBody: true))
    #expect(asker.last?.allowsCoding == allows)
  }

  @Test(
    "A resumed transfer with progress has more attempts, one without has four, and none is endless",
    arguments: [
      (0, 3, 4), ((1 << 20) - 1, 3, 4), (1 << 20, 3, 100), (5 << 20, 3, 100), (1 << 20, 0, 1),
      (1 << 20, 1, 50),
    ] as [(Int64, Int, Int)]
  )
  func progress(step: Int64, count: Int, attempts: Int) throws {
    let asker = try makeAsker()
    asker.policy.retries.count = count
    var offset: Int64 = 0
    var outcome = Exchange.Step.wait(.zero)
    while case .wait = outcome, asker.exchange.attempts < 1000 {
      offset += step
      outcome = asker.receive(broken(.stalled, kept: offset))
    }
    #expect(ExchangeTests.word(outcome) == "stalled")
    #expect(asker.exchange.attempts == attempts)
  }

  @Test(
    "A pause beyond the end of the run becomes a deferral",
    arguments: [
      (nil, 1, "deferred deadline nil"), (nil, 2, "wait"), ("10", 5, "deferred retry_after 10"),
      ("10", 10, "deferred retry_after 10"), ("10", 11, "wait"),
      ("500", 1000, "deferred retry_after 500"),
    ] as [(String?, Int64, String)]
  )
  func deadline(header: String?, seconds: Int64, expected: String) throws {
    let asker = try makeAsker()
    asker.policy.retries.delay = .seconds(3)
    asker.deadline = asker.now.uptime + .seconds(seconds)
    let headers = header.map { [HeaderField("Retry-After", $0)] } ?? []
    let step = asker.receive(reply(503, headers))
    guard case .deferred(let deferral, let status) = step else {
      #expect(ExchangeTests.word(step) == expected)
      return
    }
    let until = deferral.until.map { "\(($0 - asker.now.wall).milliseconds / 1000)" } ?? "nil"
    #expect("deferred \(deferral.rule.rawValue) \(until)" == expected)
    #expect(status == 503)
  }

  @Test("A redirect with an expired target is requested again once")
  func outdatedRedirect() throws {
    let there = reply(302, [HeaderField("Location", "https://cdn.example/x?signature=1")])
    let asker = try makeAsker()
    #expect(asker.word(there) == "ask")
    #expect(asker.word(broken()) == "wait")
    #expect(asker.word(reply(403)) == "ask")
    #expect(asker.exchange.redirects.isEmpty)
    #expect(asker.word(there) == "ask")
    #expect(asker.last?.url.string == "https://a.example/x")
    #expect(asker.word(reply(403)) == "answered 403")

    let fresh = try makeAsker()
    #expect(fresh.word(there) == "ask")
    #expect(fresh.word(reply(403)) == "answered 403")
  }
}

@Suite struct ExchangeAlternateTests {
  static let mirror = "https://mirror.example/x"

  @Test(
    "A missing item is requested from the next source at once",
    arguments: [
      (404, "ask"), (410, "ask"), (501, "ask"), (505, "ask"), (200, "answered 200"),
      (304, "answered 304"), (401, "answered 401"), (403, "answered 403"), (400, "answered 400"),
      (503, "wait"),
    ]
  )
  func statuses(status: Int, expected: String) throws {
    let asker = try makeAsker(alternates: [Self.mirror])
    #expect(asker.word(reply(status)) == expected)
    #expect(asker.exchange.isAlternate == (expected == "ask"))
    #expect(asker.exchange.hop.string == (expected == "ask" ? Self.mirror : "https://a.example/x"))
  }

  @Test("Every source has its own attempts, and the declared one is reported when all fail")
  func tries() throws {
    let asker = try makeAsker(alternates: [Self.mirror, "https://third.example/x"])
    var words: [String] = []
    while words.count < 20 {
      let word = asker.word(broken(asker.exchange.isAlternate ? .stalled : .reset))
      words.append(word)
      if word != "wait", word != "ask" { break }
    }
    let round = ["wait", "wait", "wait"]
    #expect(words == round + ["ask"] + round + ["ask"] + round + ["reset"])
    #expect(asker.last?.url.string == "https://third.example/x")
  }

  @Test("Another source gets no credentials, no validators and no hops of the first one")
  func freshChain() throws {
    let secret = HeaderField("Authorization", "Bearer x")
    let asker = try makeAsker(
      alternates: [Self.mirror, "https://a.example/y"],
      headers: [secret],
      conditions: Validators(entityTag: "\"1\"")
    )
    _ = asker.receive(reply(302, [HeaderField("Location", "/moved")]))
    _ = asker.receive(reply(404))
    #expect(asker.exchange.redirects.isEmpty)
    _ = asker.receive(reply(404))
    #expect(asker.last?.url.string == Self.mirror)
    #expect(asker.last?.headers == [])
    #expect(asker.exchange.carriesCredentials)
    _ = asker.receive(reply(200, hasBody: true))
    #expect(asker.last?.headers == [secret])
  }

  @Test("Validators from an alternate are sent to it again")
  func alternateValidators() throws {
    var exchange = Exchange(
      url: try WebURL("https://a.example/x"),
      alternates: [try WebURL(Self.mirror)],
      conditions: Validators(entityTag: "\"1\""),
      conditionURL: Self.mirror
    )
    #expect(exchange.nextRequest(TransferID(1)).headers == [])
    let step = Exchange.Step.failed(Failure(.digestMismatch, "x"), status: 200)
    let now = Instant(seconds: 0)
    let hasAnother = exchange.nextAlternate(after: step, policy: RunPolicy(), now: now)
    #expect(hasAnother)
    #expect(exchange.nextRequest(TransferID(2)).headers.first?.name == "If-None-Match")
    let hasThird = exchange.nextAlternate(after: step, policy: RunPolicy(), now: now)
    #expect(!hasThird)
  }

  @Test("A source over plain http is skipped where that is not allowed")
  func security() throws {
    let asker = try makeAsker(alternates: ["http://plain.example/x", Self.mirror])
    #expect(asker.word(reply(404)) == "ask")
    #expect(asker.exchange.hop.string == Self.mirror)
    #expect(asker.word(reply(404)) == "answered 404")
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var results: [TransferResult]
    var expected: String

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "gone, then gone", results: [reply(404), reply(410)], expected: "answered 404"),
    Row(
      name: "gone, then untrusted",
      results: [reply(404), broken(.certificate, isTransient: false)],
      expected: "certificate"
    ),
    Row(
      name: "untrusted",
      results: [broken(.certificate, isTransient: false)],
      expected: "certificate"
    ),
    Row(
      name: "put off, then gone",
      results: [reply(503, [HeaderField("Retry-After", "500")]), reply(404)],
      expected: "deferred retry_after"
    ),
    Row(
      name: "gone, then put off",
      results: [reply(404), reply(503, [HeaderField("Retry-After", "500")])],
      expected: "deferred retry_after"
    ),
    Row(name: "gone, then there", results: [reply(404), reply(200)], expected: "answered 200"),
    Row(name: "too large", results: [broken(.tooLarge, isTransient: false)], expected: "too_large"),
  ]

  @Test("The gravest of several failures is reported", arguments: rows)
  func gravest(row: Row) throws {
    let asker = try makeAsker(alternates: [Self.mirror])
    var words: [String] = []
    for result in row.results { words.append(asker.word(result)) }
    #expect(words == Array(repeating: "ask", count: row.results.count - 1) + [row.expected])
  }

  @Test("A wrong digest outweighs the failure of the next source")
  func digest() throws {
    let asker = try makeAsker(alternates: [Self.mirror])
    #expect(asker.word(reply(200)) == "answered 200")
    let failure = Exchange.Step.failed(Failure(.digestMismatch, "x"), status: 200)
    let now = asker.now.wall
    let hasAnother = asker.exchange.nextAlternate(after: failure, policy: RunPolicy(), now: now)
    #expect(hasAnother)
    #expect(asker.word(reply(404)) == "digest_mismatch")
  }
}
