import PrefetchCrypto
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("A hostile HTTP/1.1 server", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StrayByteTests {
  private static let head = "HTTP/1.1 200 OK\r\n"
  private static let one = "network: { per_host: 1, http: 1.1, retries: { items: 0, lookups: 0 } }"

  private static func response(_ body: String) -> String {
    "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static func body(of path: String) -> String {
    "the body of \(path)"
  }

  // MARK: Heads

  private static let foldedLines = [" X: AAAA", "\tX: AAAA", " no colon", "  ", " : "]

  /// Returns a good response whose last header could be continued, followed by heads that begin
  /// with a blank.
  private static func folding(_ wire: Wire, _ line: String) throws -> WireServer {
    try WireServer(wire) { method, path in
      let body = "Content-Length: 2\r\n\r\n\(method == "HEAD" ? "" : "ok")"
      return switch path {
      case "/0": .raw("\(head)A: \(String(repeating: "b", count: 500))\r\n\(body)")
      case "/to": .raw("HTTP/1.1 302 Found\r\nLocation: /1\r\nContent-Length: 0\r\n\r\n")
      default: .raw("\(head)\(line)\r\n\(body)")
      }
    }
  }

  @Test(
    "A head that begins with a blank is `bad_response` and leaves the response before it",
    arguments: Wire.allCases,
    foldedLines
  )
  func foldedFirst(wire: Wire, line: String) throws {
    let home = try Home(isInMemory: true)
    let server = try Self.folding(wire, line)
    try server.configure(home, (0..<8).map { "/\($0)" }, Self.one)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 3, "\(run)")
    let report = try run.json()
    let failed = report.list("items").compactMap { $0.text("error.code") }
    #expect(failed == Array(repeating: "bad_response", count: 7), "\(run)")
    #expect(report.list("items").compactMap { $0.text("digest") }.count == 1)
    // A single redirect is enough.
    let get = try home.run("get", "\(server.base)/to")
    #expect([3, 4].contains(get.status), "\(get)")
    // Faults that a HEAD cannot show may still occur.
    let other = try Home(isInMemory: true)
    try server.configure(other, (0..<8).map { "/\($0)" }, Self.one)
    let plan = try other.run("plan")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.output.contains("not stored; probe failed: "), "\(plan)")
  }

  @Test("`serve --pull` survives heads that begin with a blank")
  func foldedPull() throws {
    let home = try Home(isInMemory: true)
    let server = try Self.folding(.plainHTTP, " X: AAAA")
    try server.configure(home, ["/0"], Self.one)
    let serving = try home.start(["serve", "--pull", "--listen", "127.0.0.1:0"])
    let address = try #require(serving.firstLine())
    let suffix = server.base.split(separator: "/").last ?? ""
    for (path, status) in [("0", "200"), ("1", "502"), ("to", "502"), ("2", "502"), ("0", "200")] {
      let shown = try home.tool(
        "curl",
        "-s",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        "\(address)\(suffix)/\(path)"
      )
      #expect(shown.output == status, "\(path)")
    }
    serving.signal(15)
    #expect(serving.finish(within: 10).status == 143)
  }

  // MARK: Bytes behind an answer

  private static let poison = response("poison")

  /// Ways in which the bytes after a response are sent.
  enum Placement: String, CaseIterable, Sendable {
    case inOneWrite
    case withTheBody
    case behindALargeBody
    /// While the connection rests.
    case later
  }

  private static func poisoned(_ path: String, _ placement: Placement, _ gates: Gates) -> Script {
    let body = body(of: path)
    let large = body + String(repeating: "x", count: 300_000)
    switch placement {
    case .inOneWrite:
      return .raw(response(body) + poison)
    case .withTheBody:
      return Script([
        .send(Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n".utf8)),
        .send(Array((body + poison).utf8)),
      ])
    case .behindALargeBody:
      return .raw(response(large) + poison)
    case .later:
      // A request sent before the stray bytes could not distinguish them from its response.
      return Script(
        gates.arrived.map { Script.Step.pause($0) } + [
          .send(Array(response(body).utf8)), .wait(.milliseconds(5)), .send(Array(poison.utf8)),
          .open(gates.left[path.hasSuffix("p0") ? 0 : 1]),
        ]
      )
    }
  }

  /// Synchronization of a round's requests.
  private struct Gates: Sendable {
    /// Gates that open once the request to be redirected has arrived.
    let arrived = [Gate(), Gate()]
    /// Gates that open once the stray bytes are sent.
    let left = [Gate(), Gate()]
  }

  /// Delays the next request until the previous connection is idle.
  private static func redirect(_ path: String, _ gates: Gates) -> Script {
    let target = path.replacing("/r", with: "/g")
    let response = "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"
    return Script(
      [.open(gates.arrived[path.hasSuffix("r0") ? 0 : 1])]
        + gates.left.map { Script.Step.pause($0) }
        + [.wait(.milliseconds(25)), .send(Array(response.utf8))]
    )
  }

  @Test(
    "Bytes after a response are not taken as a body, and the next item is not blamed",
    arguments: Wire.allCases,
    Placement.allCases
  )
  func stray(wire: Wire, placement: Placement) throws {
    // Each round has a folder of its own.
    let gates = (0..<Binary.rounds).map { _ in Gates() }
    let server = try WireServer(wire) { _, path in
      let parts = path.split(separator: "/")
      let gates = parts.first.flatMap { Int($0) }.map { gates[$0] } ?? Gates()
      return switch parts.last?.first {
      case "p": Self.poisoned(path, placement, gates)
      case "r": Self.redirect(path, gates)
      default: .raw(Self.response(Self.body(of: path)))
      }
    }
    var names = (0..<3).flatMap { ["p\($0)", "g\($0)"] }
    var network = Self.one
    if placement == .later {
      // Two connections for each of two workers, so that an idle one is reused.
      names = ["p0", "p1", "r0", "r1"]
      network = "network: { per_host: 4, http: 1.1, retries: { items: 0 } }"
    }
    for round in 0..<Binary.rounds {
      let home = try Home(isInMemory: true)
      try server.configure(home, names.map { "/\(round)/\($0)" }, network)
      let run = try home.run("--json", "--items", "all")
      let report = try run.json()
      #expect([0, 3].contains(run.status), "round \(round): \(run)")
      for item in report.list("items") {
        let path = "/\(round)/" + (item.text("url")?.split(separator: "/").last ?? "")
        let word = item.text("outcome")
        if path.contains("/p") {
          // Whether the client notices the bytes depends on what it read at once.
          #expect(word == "added" || item.text("error.code") == "bad_response", "\(round): \(item)")
        } else {
          let digest = Digest.hexadecimal(Self.body(of: path.replacing("/r", with: "/g")))
          #expect(item.text("digest") == "sha256:\(digest)", "round \(round): \(item)")
        }
      }
      let objects = FileTree.objects(home.cache).keys
      #expect(!objects.contains(Digest.hexadecimal("poison")), "round \(round)")
    }
  }

  // MARK: Chunks and counts

  @Test("An invalid chunk size is named", arguments: Wire.allCases)
  func chunkSizes(wire: Wire) throws {
    let sizes = ["0x5", "5g", "g", "-5", "5;x=y", "5 ", "0005"]
    let server = try WireServer(wire) { _, path in
      let size = sizes[Int(path.dropFirst()) ?? 0]
      return .raw("\(Self.head)Transfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n0\r\n\r\n")
    }
    let home = try Home(isInMemory: true)
    try server.configure(home, sizes.indices.map { "/\($0)" }, Self.one)
    let report = try home.run("--json", "--items", "all").json()
    for item in report.list("items") {
      let size = sizes[Int(item.text("url")?.split(separator: "/").last ?? "") ?? 0]
      let message = item.text("error.message") ?? ""
      if ["5;x=y", "5 ", "0005"].contains(size) {
        #expect(item.text("outcome") == "added", "\(item)")
      } else {
        #expect(item.text("error.code") == "bad_response")
        #expect(message.contains("broken chunks"), "\(size): \(message)")
        // libcurl itself refuses a size that does not begin with a digit.
        if size != "g", size != "-5" { #expect(message.contains("`\(size)`"), "\(message)") }
      }
    }
  }

  @Test("Requests that libcurl repeats are counted", arguments: Wire.allCases)
  func repeated(wire: Wire) throws {
    let requestCounter = Counter()
    let server = try WireServer(wire) { _, path in
      // The first request meets a connection that ends without a response.
      path == "/1" && requestCounter.next() == 1
        ? Script([.close]) : .raw(Self.response(Self.body(of: path)))
    }
    let home = try Home(isInMemory: true)
    try server.configure(home, ["/0", "/1"], Self.one)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.requestCount == 3)
    #expect(try run.totals()["requests"] == 3)
    #expect(try run.totals()["retries"] == 0)
  }

  private final class Counter: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
      count.withLock {
        $0 += 1
        return $0
      }
    }
  }
}
