import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A large body over several connections", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RangeTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func configure(
    _ origin: RangeOrigin,
    download: String = "",
    network: String = "",
    cache: String = ""
  ) {
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(origin.url)"] }]
      cache: { min_free: 0\(cache) }
      download: { \(download) }
      network:
        per_host: 16
        retries: { delay: 1ms, max_delay: 2ms }
        timeouts: { read: 2s }
      \(network)
      """
    )
  }

  /// Runs until the body is stored; returns the ranges that were asked for.
  @discardableResult
  private func fetch(_ origin: RangeOrigin, excess: Double = 0.1) throws -> [String] {
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    try checkStored(origin, excess: excess)
    #expect(try run.totals()["requests"] == origin.server.requests.count)
    return origin.server.requests.compactMap { $0.headers["Range"] }
  }

  private func checkStored(_ origin: RangeOrigin, excess: Double = 0.1) throws {
    let digest = Digest.hexadecimal(origin.body)
    #expect(Array(FileTree.objects(home.cache).keys) == [digest])
    #expect(FileTree.names("\(home.cache)/partial").isEmpty)
    #expect(try home.run("verify").status == 0)
    let limit = Int(Double(origin.body.count) * (1 + excess))
    #expect(origin.server.sentByteCount <= limit, "\(origin.server.sentByteCount) of \(limit)")
  }

  @Test("A body that its host sends slowly arrives over more connections, each byte once")
  func several() throws {
    let origin = try RangeOrigin(mebibytes: 160, rate: 25)
    configure(origin)
    let ranges = try fetch(origin)
    #expect(ranges.count > 2)
    #expect(Set(ranges).count == ranges.count)
    let requests = origin.server.requests
    #expect(requests.first?.headers["Range"] == nil)
    for request in requests.dropFirst() {
      #expect(request.headers["If-Match"] == RangeOrigin.tag)
      #expect(request.headers["If-None-Match"] == nil)
      #expect(request.headers["Accept-Encoding"] == "identity")
      #expect(request.target == RangeOrigin.path)
    }
    #expect((3...8).contains(origin.server.peakConnectionCount))
    // The whole body is one item with the first response's tag.
    let again = try home.run("--json")
    #expect(try again.totals()["not_modified"] == 1, "\(again)")
    #expect(origin.server.requests.last?.headers["If-None-Match"] == RangeOrigin.tag)
  }

  @Test("A number limits the connections of one body", arguments: [2, 3])
  func number(_ most: Int) throws {
    let origin = try RangeOrigin(mebibytes: 128, rate: 30)
    configure(origin, download: "ranges: \(most)")
    #expect(try !fetch(origin).isEmpty)
    #expect(origin.server.peakConnectionCount == most)
  }

  @Test("Ranges count as connections of their host")
  func perHost() throws {
    let origin = try RangeOrigin(rate: 40)
    configure(origin, network: "  concurrency: 1")
    #expect(try fetch(origin).isEmpty)
    #expect(origin.server.peakConnectionCount == 1)
  }

  @Test(
    "A body arrives over one connection where ranges are switched off or cannot be sure",
    arguments: [
      ("ranges: 1", "", [("ETag", RangeOrigin.tag)], 80),
      ("", "  daily_limit: 10GB", [("ETag", RangeOrigin.tag)], 80),
      ("", "", [("ETag", "W/\(RangeOrigin.tag)")], 80), ("", "", [], 80),
      ("", "", [("ETag", RangeOrigin.tag), ("Accept-Ranges", "none")], 80),
      ("", "", [("ETag", RangeOrigin.tag)], 60),
    ] as [(String, String, [(String, String)], Int)]
  )
  func single(
    _ download: String,
    _ network: String,
    _ headers: [(String, String)],
    _ mebibytes: Int
  ) throws {
    let origin = try RangeOrigin(mebibytes: mebibytes, rate: 50, headers: headers)
    configure(origin, download: download, network: network)
    #expect(try fetch(origin).isEmpty)
    #expect(origin.server.connectionCount == 1)
  }

  @Test("Bodies that get the same rate from their host keep one connection each")
  func together() throws {
    let origin = try RangeOrigin(mebibytes: 80, rate: 40)
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(origin.url)", "\(origin.server.address("/second.bin"))"] }]
      cache: { min_free: 0 }
      network: { per_host: 16 }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(origin.server.requests.compactMap { $0.headers["Range"] } == [])
    #expect(origin.server.requests.count == 2)
  }

  @Test("A body gets ranges while requests wait only for connections of another host")
  func besideFarHost() throws {
    let origin = try RangeOrigin(mebibytes: 128, rate: 25)
    let far = try LoopbackServer { _ in
      Script([.wait(.milliseconds(150))] + Script.respond(200, text: "x").steps)
    }
    let items = (0..<400).map { "\"\(far.address("/\($0)"))\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(origin.url)", \(items)] }]
      cache: { min_free: 0 }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(far.requests.count == 400)
    #expect(origin.server.requests.contains { $0.headers["Range"] != nil })
  }

  @Test("A body that a second tier sends arrives over one connection")
  func tier() throws {
    let origin = try RangeOrigin(mebibytes: 80, rate: 50)
    home.configure(
      """
      segments:
        - name: basics
          urls: [{ url: "\(origin.url)", sha256: \(Digest.hexadecimal(origin.body)) }]
      cache: { min_free: 0, remote: { url: "\(origin.server.address("/t"))", timeout: 5s } }
      network: { per_host: 16 }
      """
    )
    #expect(try fetch(origin).isEmpty)
    #expect(origin.server.requests.allSatisfy { $0.path.hasPrefix("/t/") })
  }

  @Test("A coded body arrives over one connection")
  func coded() throws {
    let body = RangeOrigin.body(mebibytes: 80)
    home.write(body, to: "body")
    try #require(home.shell("gzip -1 body").status == 0)
    let coded = try #require(FileTree.read(home.path("body.gz")))
    let headers = [("ETag", RangeOrigin.tag), ("Content-Encoding", "gzip")]
    let origin = try RangeOrigin(coded, rate: 50, headers: headers)
    configure(origin)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(Array(FileTree.objects(home.cache).keys) == [Digest.hexadecimal(body)])
    #expect(origin.server.requests.count == 1)
  }

  enum Fault: String, CaseIterable {
    case whole, changed, otherTag, otherBounds, otherSize, coded, busy, limited, lost

    var answer: RangeOrigin.Fault {
      switch self {
      case .whole: .whole
      case .changed: .changed
      case .otherTag: .otherTag
      case .otherBounds: .otherBounds
      case .otherSize: .otherSize
      case .coded: .coded
      case .busy: .status(503)
      case .limited: .status(429)
      case .lost: .status(404)
      }
    }
  }

  @Test("Any answer but the requested range leaves one connection", arguments: Fault.allCases)
  func refused(_ fault: Fault) throws {
    let origin = try RangeOrigin(rate: 50) { _ in fault.answer }
    configure(origin)
    #expect(try fetch(origin).count == 1)
  }

  @Test(
    "A wrong answer among right ones leaves one connection",
    arguments: [Fault.whole, .changed, .otherBounds, .busy]
  )
  func refusedLater(_ fault: Fault) throws {
    let origin = try RangeOrigin(mebibytes: 160, rate: 30) { $0 == 2 ? fault.answer : nil }
    configure(origin)
    // The first connection alone can bring the rest of a body that has changed on the server.
    let hasChanged = fault == .changed
    let ranges = try fetch(origin, excess: hasChanged ? 0.3 : 0.1)
    #expect(ranges.count >= 2)
    #expect(origin.server.peakConnectionCount <= 4)
  }

  @Test("A range that stalls or breaks off is asked for again, and nothing else")
  func broken() throws {
    for fault in [RangeOrigin.Fault.stall, .short, .reset] {
      try home.removeCache()
      let origin = try RangeOrigin(rate: 50) { $0 == 1 ? fault : nil }
      configure(origin)
      #expect(try fetch(origin).count >= 2)
    }
  }

  @Test("A server that ends its ranges too early each time is given up or left with one")
  func alwaysShort() throws {
    let origin = try RangeOrigin(rate: 50) { _ in .short }
    configure(origin)
    let run = try home.run("--json")
    #expect([0, 69].contains(run.status), "\(run)")
    if run.status == 0 { try checkStored(origin) }
  }

  @Test("A server that closes each connection of a range without a response is given up")
  func neverAnswered() throws {
    // The first connection has brought its own bytes by the time the second one ends.
    let origin = try RangeOrigin(rate: 50) { .nothing(after: .seconds($0 == 1 ? 1.5 : 0)) }
    configure(origin)
    let run = try home.start(["--json"]).finish(within: 60)
    #expect([0, 69].contains(run.status), "\(run)")
    #expect(origin.server.requests.count <= 12)
    // The last attempt may begin at the first byte again.
    if run.status == 0 { try checkStored(origin, excess: 1) }
  }
}
