import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Damaged replies of real servers",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .figures(.composedReplies)
)
struct ReplyMutantTests {
  /// Responses as nginx, Apache, Caddy and Python sent them.
  private static let replies = [
    """
    HTTP/1.1 200 OK
    Server: nginx/1.22.1
    Date: Wed, 25 Nov 2026 19:00:00 GMT
    Content-Type: text/plain
    Content-Length: 24
    Last-Modified: Tue, 24 Nov 2026 10:00:00 GMT
    Connection: keep-alive
    ETag: "6553f100-18"
    Accept-Ranges: bytes

    0123456789abcdefghijklmn
    """,
    """
    HTTP/1.1 200 OK
    Date: Wed, 25 Nov 2026 19:00:00 GMT
    Server: Apache/2.4.62 (Debian)
    Vary: Accept-Encoding
    Transfer-Encoding: chunked
    Content-Type: text/html; charset=UTF-8

    5
    hello
    8;name=value
    and more
    0
    Server-Timing: total;dur=12


    """,
    """
    HTTP/1.1 100 Continue

    HTTP/1.1 206 Partial Content
    Content-Range: bytes 0-4/5
    Content-Length: 5
    Alt-Svc: h3=":443"; ma=2592000
    Server: Caddy

    hello
    """,
    """
    HTTP/1.1 302 Found
    Location: /other
    Set-Cookie: a=b; Path=/; HttpOnly
    Cache-Control: max-age=60, stale-while-revalidate=30
    Content-Length: 0


    """,
    """
    HTTP/1.0 200 OK
    Server: SimpleHTTP/0.6 Python/3.11.2
    Content-type: application/octet-stream
    Content-Encoding: gzip
    Content-Length: 5

    hello
    """,
    """
    HTTP/1.1 503 Service Unavailable
    Retry-After: 0
    Content-Length: 4
    Connection: close

    busy
    """,
  ].map { Array($0.replacing("\n", with: "\r\n").utf8) }

  /// Returns the response of a number, damaged except every eighth, and whether the connection
  /// stays open.
  private static func script(_ number: UInt64) -> Script {
    var random = SeededRandom(number)
    guard number % 8 != 0 else { return Script([.send(replies[0])]) }
    var mutator = Mutator(seed: random.next(), samples: replies)
    var bytes = mutator.next()
    // libcurl once took blanks at a line's start for the continuation of a freed header.
    let starts = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
    if random.happens(40), let start = starts.randomElement(using: &random) {
      bytes.insert(random.happens(50) ? 0x20 : 0x09, at: start + 1)
    }
    var steps = [Script.Step.send(bytes)]
    if random.happens(30) { steps = [.drip(bytes, size: 7)] }
    if random.happens(70) { steps.append(.close) }
    return Script(steps)
  }

  private static func play(_ wire: Wire, from first: Int, count: Int, watched: Bool) throws {
    let server = try WireServer(wire) { _, path in
      Self.script(UInt64(path.split(separator: "/").first ?? "") ?? 0)
    }
    let home = try Home(isInMemory: true)
    try server.configure(
      home,
      (first..<first + count).map { "/\($0)" },
      "network: { per_host: 2, http: 1.1, retries: { items: 0 }, timeouts: { read: 300ms } }"
    )
    let run: ProgramRun
    if watched {
      // Reads of uninitialized memory are ignored, since Swift's own library has some.
      run = try home.tool(
        "valgrind",
        "-q",
        "--trace-children=yes",
        "--undef-value-errors=no",
        "--error-exitcode=99",
        "--log-file=memory",
        try #require(Binary.path),
        "run",
        "-q"
      )
    } else {
      run = try home.run("run", "-q")
    }
    let context = home.read("memory") ?? ""
    // A damaged Retry-After may keep all other items from being requested.
    #expect([0, 3, 4, 5].contains(run.status), "\(wire) \(first): \(run) \(context)")
    let verified = try home.run("verify")
    #expect(verified.status == 0, "\(verified)")
  }

  @Test(
    "Damaged replies neither end the program nor leave damage in the cache",
    arguments: Wire.allCases
  )
  func mutants(wire: Wire) throws {
    for round in 0..<max(1, Binary.rounds / 5) {
      try Self.play(wire, from: 250 * round, count: 250, watched: false)
    }
  }

  @Test(
    "Damaged replies cause no invalid access to memory",
    .enabled(if: Tool.isInstalled("valgrind"), "needs valgrind"),
    arguments: Wire.allCases
  )
  func memory(wire: Wire) throws {
    for round in 0..<max(1, Binary.rounds / 10) {
      try Self.play(wire, from: 1_000_000 + 125 * round, count: 125, watched: true)
    }
  }

  @Test(
    "Replies composed of any parts store no wrong body, and a good server mends everything",
    arguments: Transport.possible,
    0..<max(1, Binary.rounds / 5)
  )
  func composed(transport: Transport, round: Int) throws {
    try ComposedRun(transport, round: round).play(for: .composedReplies)
  }
}

extension Figures {
  static let composedReplies = Figures("hostile", of: "behaviours", seed: Binary.sampleSeed)
}
