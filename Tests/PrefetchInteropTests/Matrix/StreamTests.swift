import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// A fault of an HTTP/2 server with the expected outcome of the item.
struct StreamRow: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var verdict: Verdict
  /// Scripts of the requests in order; the last one repeats.
  var scripts: [StreamScript]

  init(_ description: String, _ verdict: String, _ scripts: StreamScript...) {
    testDescription = description
    self.verdict = Verdict(verdict)
    self.scripts = scripts
  }
}

@Suite(
  "Misbehaving HTTP/2 servers",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: StreamServer.isPossible, "needs python3 and openssl")
)
struct StreamTests {
  private static let body = "a body that comes over one of many streams"
  private static let oldBody = "what the server had before"
  private static let oldResponse = start.headers([
    (":status", "200"), ("etag", "\"old\""), ("content-length", "\(oldBody.utf8.count)"),
  ])
  .data(oldBody, isLast: true)
  private static let half = String(body.prefix(20))
  private static let rest = String(body.dropFirst(20))
  private static let size = body.utf8.count
  private static let start = StreamScript()
  private static let good = start.head(length: size).data(body, isLast: true)
  private static let cut = start.head(length: size).data(half)
  private static let openCut = start.head().data(half)

  private static let rows = whole + resets + goodbyes + ends + nonsense + breaks + openBreaks

  /// Frames that violate HTTP/2, sent after half a body.
  private static let brokenFrames: [(String, @Sendable (StreamScript) -> StreamScript)] = [
    ("a frame larger than agreed", { $0.data(giant) }),
    ("more padding than frame", { $0.frame(0, 8, [0xFF] + Array("hello".utf8)) }),
    ("trailers that no table explains", { $0.frame(1, 4, Array(repeating: 0xFF, count: 6)) }),
    ("a window that grows by nothing", { $0.frame(8, 0, [0, 0, 0, 0]) }),
    (
      "a window of the connection that grows by nothing",
      { $0.frame(8, 0, [0, 0, 0, 0], ofConnection: true) }
    ),
    ("data of no stream", { $0.frame(0, 0, Array("hello".utf8), ofConnection: true) }),
    (
      "a window beyond its bounds",
      { $0.frame(4, 0, [0, 4, 0xFF, 0xFF, 0xFF, 0xFF], ofConnection: true) }
    ),
    ("half a setting", { $0.frame(4, 0, [0, 4, 0xFF, 0xFF, 0xFF], ofConnection: true) }),
  ]

  // No violation may pass for the end of the body, nor cost a timeout.
  private static let breaks = brokenFrames.flatMap { name, add in
    [
      StreamRow(name, "reset|truncated 69", add(cut)),
      StreamRow("\(name), in one record", "reset|truncated 69", add(cut).inOneRecord),
    ]
  }

  private static let openBreaks = brokenFrames.flatMap { name, add in
    [
      StreamRow("\(name), no length", "added 0 x2", add(openCut)),
      StreamRow("\(name), no length, in one record", "added 0 x2", add(openCut).inOneRecord),
    ]
  }

  private static let whole = [
    StreamRow("a good answer", "added 0 x1", good),
    StreamRow(
      "an answer without a length",
      "added 0 x2",
      start.head().data(half).data(rest).data("", isLast: true)
    ),
    StreamRow(
      "an answer with trailers",
      "added 0 x1",
      start.head(length: size).data(body).headers([("etag", "\"late\"")], isLast: true)
    ),
    StreamRow(
      "an answer behind early hints",
      "added 0 x1",
      start.head(103).head(length: size).data(body, isLast: true)
    ),
    StreamRow(
      "a reset once all is there",
      "added 0 x1",
      start.head(length: size).data(body, isLast: true).reset(.noError)
    ),
    StreamRow(
      "a goodbye around a whole answer",
      "added 0 x1",
      start.goAway(handled: 1).head(length: size).data(body, isLast: true).close(orderly: true)
    ),
  ]

  private static let ordinary = StreamScript.Code.allCases.filter { $0 != .http11Required }

  private static let resets =
    ordinary.flatMap { code in
      [
        StreamRow("a reset (\(code)) before the answer", "reset 69", start.reset(code)),
        StreamRow(
          "a reset (\(code)) within the body",
          "reset|truncated 69",
          cut.reset(code)
        ),
        StreamRow(
          "a reset (\(code)) within a body without a length",
          "added 0 x2",
          openCut.reset(code)
        ),
        StreamRow("one reset (\(code)) within the body", "added 0 x2", cut.reset(code), good),
      ]
    } + [
      // libcurl repeats the request over HTTP/1.1 by itself.
      StreamRow("HTTP/1.1 demanded before the answer", "added 0 x2", start.reset(.http11Required)),
      StreamRow(
        "HTTP/1.1 demanded within the body",
        "added|reset|truncated|bad_response 0|4|69",
        cut.reset(.http11Required)
      ),
      StreamRow(
        "HTTP/1.1 demanded within a body without a length",
        "added 0 x2",
        openCut.reset(.http11Required)
      ),
    ]

  private static let goodbyes = [
    StreamRow(
      "a goodbye instead of an answer, then a good one",
      "added 0 x2",
      start.goAway(handled: 0).close(orderly: true),
      good
    ),
    StreamRow("goodbyes and nothing else", "reset 69", start.goAway(handled: 0).close()),
    StreamRow(
      "a goodbye and the end within the body",
      "reset|truncated 69",
      cut.goAway(handled: 1).close(orderly: true)
    ),
    StreamRow(
      "a goodbye and the end within a body without a length",
      "added 0 x2",
      openCut.goAway(handled: 1).close(orderly: true)
    ),
    StreamRow(
      "a goodbye for a fault within the body",
      "reset|truncated 69",
      cut.goAway(.protocolError, handled: 1).close(orderly: true)
    ),
  ]

  private static let ends = [
    StreamRow("the connection's end before the answer", "reset 69", start.close()),
    StreamRow("the connection's end within the body", "reset|truncated 69", cut.close()),
    StreamRow(
      "the connection's end within a body without a length",
      "added 0 x2",
      openCut.close()
    ),
    StreamRow(
      "an orderly end within a body without a length",
      "added 0 x2",
      openCut.close(orderly: true)
    ),
    StreamRow(
      "the stream's end before the announced length",
      "reset|truncated 69",
      start.head(length: size).data(half, isLast: true)
    ),
    StreamRow(
      "headers only, which announce a body",
      "reset|truncated 69",
      start.head(length: size, isLast: true)
    ),
    StreamRow(
      "more bytes than announced",
      "reset|truncated|bad_response 69|4",
      start.head(length: 20).data(body, isLast: true)
    ),
    StreamRow("headers and silence", "stalled 69", start.head(length: size)),
    StreamRow("half a body and silence", "stalled 69", cut),
    StreamRow("half a body without a length and silence", "added 0 x2", openCut),
  ]

  private static let nonsense = [
    StreamRow("no status", "reset|bad_response 69|4", start.headers([("a", "b")], isLast: true)),
    StreamRow(
      "a name in capitals",
      "reset|bad_response 69|4",
      start.headers([(":status", "200"), ("ETag", "x")]).data(body, isLast: true)
    ),
    StreamRow(
      "a line end in a value",
      "reset|bad_response 69|4",
      start.headers([(":status", "200"), ("a", "b\r\nc: d")]).data(body, isLast: true)
    ),
    StreamRow(
      "two lengths",
      "reset|bad_response 69|4",
      start.headers([(":status", "200"), ("content-length", "5"), ("content-length", "6")])
        .data("hello", isLast: true)
    ),
    StreamRow("a body before its head", "reset|bad_response 69|4", start.data(body, isLast: true)),
    StreamRow(
      "a status twice",
      "reset|bad_response 69|4",
      start.headers([(":status", "200"), (":status", "404")]).data(body, isLast: true)
    ),
    StreamRow(
      "an unwanted promise",
      "reset|bad_response 69|4",
      start.frame(5, 4, [0, 0, 0, 2, 0x82]).head(length: size).data(body, isLast: true)
    ),
    StreamRow("a frame that is too long", "reset|bad_response 69|4", start.frame(0, 0, giant)),
    StreamRow(
      "headers that no table explains",
      "reset|bad_response 69|4",
      start.frame(1, 5, [0xFF, 0xFF, 0xFF])
    ),
    StreamRow(
      "a switch of protocols",
      "reset|bad_response 69|4",
      start.head(101).data(body, isLast: true)
    ),
  ]

  private static let giant = [UInt8](repeating: 0, count: 20_000)

  @Test(
    "The item ends as its row expects, whatever an HTTP/2 server does, and nothing wrong is stored",
    arguments: rows,
    [Situation.first, .update]
  )
  func play(_ row: StreamRow, _ situation: Situation) throws {
    try playRow(row, situation)
  }

  @Test(
    "A fault in one of many HTTP/2 streams costs none of the others",
    arguments: [
      good.goAway(handled: 5).close(orderly: true), good.goAway(handled: 3).close(),
      start.goAway(handled: 1).close(), start.reset(.refusedStream), cut.reset(.internalError),
      openCut.reset(.enhanceYourCalm), openCut.close(), start.frame(0, 0, giant),
    ]
  )
  func manyStreams(fault: StreamScript) throws {
    let home = try Home(isInMemory: true)
    let server = try StreamServer(
      [Self.good, Self.good, fault, Self.good],
      textual: Self.body,
      in: home
    )
    let urls = (0..<12).map { "\"https://127.0.0.1:\(server.port)/item\($0)\"" }
    configure(home, urls: urls, retries: 3)
    let run = try home.start(["--json"]).finish(within: 15)
    _ = server.stop()
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["fetched"] == 12, "\(run)")
    #expect(Set(FileTree.objects(home.cache).keys) == [Digest.hexadecimal(Self.body)])
    #expect(try home.run("verify").status == 0)
  }

  @Test("No two rows of the stream matrix have the same name")
  func names() {
    let names = Set(Self.rows.map(\.testDescription))
    #expect(names.count == Self.rows.count)
  }

  private func playRow(_ row: StreamRow, _ situation: Situation) throws {
    let home = try Home(isInMemory: true)
    let isUpdate = situation == .update
    let before = isUpdate ? [Self.oldResponse] : []
    let server = try StreamServer(before + row.scripts, textual: Self.body, in: home)
    configure(home, urls: ["\"https://127.0.0.1:\(server.port)/item\""], retries: 1)
    if isUpdate { try #require(home.run().status == 0) }
    let run = try home.start(["--json", "--items", "all"]).finish(within: 15)
    let requests = server.stop().dropFirst(before.count)
    #expect(!run.isOverdue, "\(run)")
    // With a stored body a failure is less severe.
    let exits = row.verdict.exits.map { isUpdate && $0 == 4 ? 3 : $0 }
    #expect(exits.contains(run.status), "\(run)")
    let report = try run.json()
    let word = report.text("items.0.error.code") ?? report.text("items.0.outcome") ?? "none"
    let words = row.verdict.words.map { isUpdate && $0 == "added" ? "updated" : $0 }
    #expect(words.contains(word), "\(report.text("items.0.error.message") ?? "no error")")
    if let count = row.verdict.requests { #expect(requests.count == count, "\(requests)") }
    #expect(!requests.isEmpty)
    checkStore(home, report, situation, isNew: run.status == 0)
    #expect(try home.run("verify").status == 0)
  }

  private func configure(_ home: Home, urls: [String], retries: Int) {
    home.write(
      """
      segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]
      tls: { ca_file: server.pem }
      network:
        retries: { items: \(retries), delay: 1ms, max_delay: 2ms }
        timeouts: { read: 500ms }
      cache: { min_free: 0 }
      """
    )
  }

  private func checkStore(_ home: Home, _ report: Node, _ situation: Situation, isNew: Bool) {
    let old = situation == .update ? Digest.hexadecimal(Self.oldBody) : nil
    let stored = isNew ? Digest.hexadecimal(Self.body) : old
    #expect(report.text("items.0.digest") == stored.map { "sha256:\($0)" })
    // A replaced body may remain as an orphan for a while.
    let objects = Set(FileTree.objects(home.cache).keys)
    #expect(objects.isSubset(of: [stored, old].compactMap(\.self)))
    #expect(stored.map { objects.contains($0) } ?? true)
  }
}
