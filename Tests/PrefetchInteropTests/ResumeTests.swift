@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("A run that was killed halfway", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ResumeTests {
  private static let body = Scene.body(.resume) + Scene.body(.resume)
  private static let half = body.count / 2
  /// Bytes that may still be buffered on the way to the file at the kill.
  private static let slack = 256 << 10
  /// Bytes that may be written, but not recorded, at the kill.
  private static let unnoted = 128 << 10
  private static let path = "/film.mp4"
  private static let tag = #""one""#
  private static let longAgo = "Mon, 01 Jan 2024 00:00:00 GMT"

  private let home: Home
  private let site = Site()

  init() throws {
    home = try Home()
  }

  @Test(
    "A killed run resumes with a range request under a strong tag or an old enough date",
    arguments: [
      [("ETag", tag)], [("ETag", tag), ("Accept-Ranges", "bytes")],
      [("Last-Modified", longAgo), ("Date", "Mon, 01 Jan 2024 00:01:00 GMT")],
    ]
  )
  func onlyTheRest(_ headers: [(String, String)]) throws {
    let server = try serve(headers)
    site[Self.path] = Self.page(headers, Self.body)
    let kept = try killHalfway(server)
    let before = server.sentByteCount

    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let later = server.requests.dropFirst()
    let request = try #require(later.first)
    #expect(later.count == 1)
    let offset = try #require(self.offset(of: request))
    #expect(offset <= kept && offset > kept - Self.unnoted, "\(offset) of \(kept)")
    #expect(request.headers["If-Range"] == headers[0].1)
    #expect(request.headers["If-None-Match"] == nil)
    #expect(request.headers["Accept-Encoding"] == "identity")
    #expect(server.sentByteCount - before <= Self.body.count - offset + 1_000)
    try checkStored(Self.body)
  }

  @Test("A killed run resumes with the whole new body when the file has changed")
  func changed() throws {
    let server = try serve([("ETag", Self.tag)])
    let body = Array(Self.body.reversed())
    site[Self.path] = Self.page([("ETag", "\"two\"")], body)
    _ = try killHalfway(server)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.requests.count == 2)
    #expect(server.requests.last?.headers["If-Range"] == Self.tag)
    try checkStored(body)
  }

  @Test(
    "A killed run resumes with a whole request when the part may belong to another body",
    arguments: [
      [("ETag", "W/\(tag)")], [],
      [("Last-Modified", longAgo), ("Date", longAgo)],
      [("Last-Modified", longAgo), ("Date", "Mon, 01 Jan 2024 00:00:59 GMT")],
      [("Last-Modified", longAgo)],
      [("Last-Modified", "yesterday"), ("Date", longAgo)],
      [("ETag", "one")], [("ETag", tag), ("Accept-Ranges", "none")],
    ]
  )
  func noRange(_ headers: [(String, String)]) throws {
    let server = try serve(headers)
    site[Self.path] = Self.page(headers, Self.body)
    try start(server) { run in
      try #require(server.waitUntilSent(Self.half))
      run.signal(SIGKILL)
    }
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
    #expect(server.requests.allSatisfy { $0.headers["If-Range"] == nil })
    try checkStored(Self.body)
  }

  @Test("A stored part is removed when no segment declares its item")
  func undeclared() throws {
    let server = try serve([("ETag", Self.tag)])
    site[Self.path] = Self.page([("ETag", Self.tag)], Self.body)
    site["/other"] = Site.Page("other")
    _ = try killHalfway(server)
    declare(server.address("/other"))
    #expect(try home.run().status == 0)
    #expect(try home.run("verify").status == 0)
    let files = FileTree.listing("\(home.cache)/partial").values
    #expect(files.map(\.size).reduce(0, +) <= Self.body.count)
  }

  @Test("A resumed body keeps the headers of its first response")
  func firstHead() throws {
    let body = Self.body
    let server = try LoopbackServer { request in
      if let range = request.headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
        let offset = Int(range.dropFirst(6).dropLast())
      {
        let headers = [
          ("Content-Range", "bytes \(offset)-\(body.count - 1)/\(body.count)"),
          ("Date", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ]
        return .respond(206, headers, body: Array(body[offset...]))
      }
      guard request.headers["If-None-Match"] == nil else {
        return .raw("HTTP/1.1 304 Not Modified\r\n\r\n")
      }
      let head = Script.head(
        200,
        [
          ("ETag", Self.tag), ("Content-Type", "video/mp4"), ("X-First", "yes"),
          ("Content-Length", String(body.count)), ("Date", Self.longAgo),
        ]
      )
      return Script([.send(head + body.prefix(Self.half)), .silence])
    }
    declare(server.address(Self.path), "expect: { mime: video/mp4, min_size: \(body.count) }")
    _ = try killHalfway(server)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.requests.count == 2)
    try checkStored(body)
    // The tag from the first response is remembered.
    let again = try home.run("--json")
    #expect(again.status == 0, "\(again)")
    #expect(try again.totals()["not_modified"] == 1)
    #expect(server.requests.count == 3)
    #expect(server.requests.last?.headers["If-None-Match"] == Self.tag)
  }

  @Test(
    "An interrupted or killed run keeps a part that is worth a second request",
    arguments: [SIGTERM, SIGINT, 0],
    [(60_000, false), (60_000, true), (66_000, true), (500_000, true)]
  )
  func small(_ signal: Int32, _ given: (count: Int, isLimited: Bool)) throws {
    let count = given.count
    // Without a limit, nothing shows how many bytes have arrived.
    guard given.isLimited || signal == 0 else { return }
    let body = Array(Self.body.prefix(600_000))
    let (site, hasBegun) = (site, Flag())
    site[Self.path] = Site.Page(body, entityTag: Self.tag)
    let head = Script.head(200, [("ETag", Self.tag), ("Content-Length", String(body.count))])
    let start = Script([.send(head + body.prefix(count)), signal == 0 ? .close : .silence])
    let server = try LoopbackServer { hasBegun.raise() ? start : site.respond(to: $0) }
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(server.address(Self.path))"] }]
      cache: { min_free: 0 }
      network: { daily_limit: \(given.isLimited ? "1GB" : "unlimited") }
      """
    )
    let run = try home.start(["--json", "--set", "network.retries.items=0"])
    if signal != 0 {
      try waitUntilReceived(count)
      run.signal(signal)
    }
    #expect(run.finish().status == (signal == 0 ? 69 : 128 + signal))
    let next = try home.run("--json")
    #expect(next.status == 0, "\(next)")
    // Under a volume limit even a small part is resumed.
    let range = count < 65_536 && !given.isLimited ? nil : "bytes=\(count)-"
    #expect(server.requests.map { $0.headers["Range"] } == [nil, range])
    try checkStored(body)
  }

  enum PartDamage: CaseIterable {
    case flipped, zeroed, extended, shortened
  }

  @Test("A damaged part never becomes a stored body", arguments: PartDamage.allCases)
  func damagedPartIsDropped(_ damage: PartDamage) throws {
    var random = SeededRandom(UInt64(Binary.rounds))
    let headers = [("ETag", Self.tag)]
    site[Self.path] = Self.page(headers, Self.body)
    for round in 0..<max(3, Binary.rounds / 5) {
      try home.removeCache()
      let server = try serve(headers)
      let kept = try killHalfway(server)
      let path = try #require(part)
      var bytes = try #require(FileTree.read(path))
      let index = Int.random(in: 0..<(kept - Self.unnoted), using: &random)
      switch damage {
      case .flipped: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case .zeroed:
        let page = index / 4_096 * 4_096
        bytes.replaceSubrange(page..<(page + 4_096), with: repeatElement(0, count: 4_096))
      case .extended: bytes += [UInt8](repeating: 7, count: index % 10_000 + 1)
      case .shortened: bytes.removeLast(kept - index)
      }
      let file = unsafe open(path, O_WRONLY | O_TRUNC)
      try #require(unsafe write(file, bytes, bytes.count) == bytes.count)
      close(file)
      let run = try home.run("--json")
      #expect(run.status == 0, "\(damage), round \(round): \(run)")
      try checkStored(Self.body)
    }
  }

  @Test(
    "A part is resumed although each redirect has another signature",
    arguments: [false, true]
  )
  func resumedBehindSignedAddress(_ changesPath: Bool) throws {
    let body = Self.body
    let count = Mutex(0)
    let server = try LoopbackServer { request in
      guard request.path.hasPrefix("/store") else {
        let number = count.withLock { count in
          count += 1
          return count
        }
        let path = changesPath ? "/store/\(number)" : "/store"
        return .respond(302, [("Location", "\(path)?signature=\(number)")], text: "")
      }
      let headers = [("ETag", Self.tag), ("Accept-Ranges", "bytes")]
      if let range = request.headers["Range"], let offset = Self.offset(in: range) {
        let span = ("Content-Range", "bytes \(offset)-\(body.count - 1)/\(body.count)")
        return .respond(206, headers + [span], body: Array(body[offset...]))
      }
      let head = Script.head(200, headers + [("Content-Length", String(body.count))])
      return Script([.send(head + body.prefix(Self.half)), .silence])
    }
    // Only a digest shows that another path has the same bytes.
    let digest = changesPath ? ", sha256: \(Digest.hexadecimal(body))" : ""
    home.configure(
      """
      segments: [{ name: basics, urls: [{ url: "\(server.address(Self.path))"\(digest) }] }]
      cache: { min_free: 0 }
      network: { retries: { delay: 1ms, max_delay: 2ms, items: 0 }, timeouts: { read: 3s } }
      """
    )
    let kept = try killHalfway(server)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let offset = try #require(server.requests.last.flatMap { self.offset(of: $0) })
    #expect(offset <= kept && offset > kept - Self.unnoted, "\(offset) of \(kept)")
    try checkStored(body)
  }

  // MARK: The ground

  private func offset(of request: LoopbackRequest) -> Int? {
    request.headers["Range"].flatMap(Self.offset)
  }

  private static func offset(in range: String) -> Int? {
    guard range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
    return Int(range.dropFirst(6).dropLast())
  }

  private static func page(_ headers: [(String, String)], _ body: [UInt8]) -> Site.Page {
    let named = Dictionary(headers, uniquingKeysWith: { first, _ in first })
    return Site.Page(
      body,
      entityTag: named["ETag"],
      lastModified: named["Last-Modified"],
      headers: named["Date"].map { [HeaderField("Date", $0)] } ?? []
    )
  }

  @Test("A killed run leaves its part to a waiting run of another configuration")
  func handedOver() throws {
    let headers = [("ETag", Self.tag)]
    let server = try serve(headers)
    site[Self.path] = Self.page(headers, Self.body)
    home.configure(
      """
      name: other
      segments: [{ name: basics, urls: ["\(server.address(Self.path))"] }]
      cache: { min_free: 0 }
      """,
      to: "other.yaml"
    )
    var other: RunningProgram?
    try start(server) { run in
      try #require(waitUntilKept(1))
      other = try home.start(["--json", "-c", "other.yaml"])
      try #require(waitUntilKept(Self.half - Self.slack))
      run.signal(SIGKILL)
    }
    let end = try #require(other).finish()
    #expect(end.status == 0, "\(end)")
    let requests = server.requests.dropFirst()
    #expect(requests.count == 1)
    #expect(requests.first?.headers["Range"]?.hasPrefix("bytes=") == true)
    #expect(try home.run("verify").status == 0)
  }

  /// Returns a server that falls silent after half of its first response.
  private func serve(_ headers: [(String, String)]) throws -> LoopbackServer {
    let (site, hasBegun) = (site, Flag())
    let head = Script.head(200, headers + [("Content-Length", String(Self.body.count))])
    let half = Script([.send(head + Self.body.prefix(Self.half)), .silence])
    let server = try LoopbackServer { hasBegun.raise() ? half : site.respond(to: $0) }
    declare(server.address(Self.path))
    return server
  }

  private func declare(_ url: String, _ further: String = "") {
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(url)"], \(further) }]
      cache: { min_free: 0 }
      network: { retries: { delay: 1ms, max_delay: 2ms } }
      """
    )
  }

  private func start(_ server: LoopbackServer, _ body: (RunningProgram) throws -> Void) throws {
    let run = try home.start([])
    try body(run)
    #expect(run.finish().status == 128 + SIGKILL)
  }

  /// Kills a run that has received half of the body; returns the size of the stored part.
  private func killHalfway(_ server: LoopbackServer) throws -> Int {
    try start(server) { run in
      try #require(waitUntilKept(Self.half - Self.slack))
      run.signal(SIGKILL)
    }
    return try #require(largestPart)
  }

  private var largestPart: Int? {
    FileTree.listing("\(home.cache)/partial").values
      .filter { $0.mode & S_IFMT == S_IFREG }.map(\.size).max()
  }

  private var part: String? {
    FileTree.listing("\(home.cache)/partial").keys.first { $0.hasSuffix(".body") }
  }

  private func waitUntilKept(_ count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      if let largestPart, largestPart >= count { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  /// Waits until the recorded volume shows the bytes of a body that has no file yet.
  private func waitUntilReceived(_ count: Int) throws {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let used = try home.run("status", "--json").json().number("quotas.0.used")
      if let used, used >= count { return }
    }
    Issue.record("\(count) bytes did not arrive")
  }

  private func checkStored(_ body: [UInt8]) throws {
    let digest = Digest.hexadecimal(body)
    #expect(Array(FileTree.objects(home.cache).keys) == [digest])
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    // Comparing outside keeps a difference of megabytes out of the log.
    let isSame = FileTree.read(path) == body
    #expect(isSame)
    #expect(largestPart == nil)
    let verify = try home.run("verify")
    #expect(verify.status == 0, "\(verify)")
  }
}

/// True for the first caller.
final class Flag: Sendable {
  private let isDown = Mutex(true)

  func raise() -> Bool {
    isDown.withLock { isDown in
      defer { isDown = false }
      return isDown
    }
  }
}

extension LoopbackServer {
  /// Waits half a minute until the bytes are sent; returns false otherwise.
  func waitUntilSent(_ count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if sentByteCount >= count { return true }
      poll(nil, 0, 2)
    }
    return false
  }
}
