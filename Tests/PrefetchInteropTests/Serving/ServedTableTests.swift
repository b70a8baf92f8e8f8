import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("The cache is served", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ServedTableTests {
  private struct Case {
    var state: ServedState
    var wish: ServedWish
    var shape: ServedShape

    var path: String { "/\(state.rawValue)-\(wish)-\(shape)" }
    /// Ten bytes and the name.
    var body: String { "0123456789\(path)" }
    var isCut: Bool { state == .cut || state == .lenient }

    static let all = ServedState.allCases.flatMap { state in
      ServedWish.allCases.flatMap { wish in
        ServedShape.allCases.map { Case(state: state, wish: wish, shape: $0) }
      }
    }
  }

  private static func page(_ number: Int) -> Site.Page {
    let row = Case.all[number]
    let isFresh = [.fresh, .damaged, .freshAlone, .damagedAlone].contains(row.state)
    var page = Site.Page(
      row.body,
      headers: [
        HeaderField("Cache-Control", "max-age=3600"), HeaderField("Age", isFresh ? "100" : "5000"),
        HeaderField("Content-Type", "text/x-test"), HeaderField("Set-Cookie", "secret=1"),
        HeaderField("X-Hop", "1"), HeaderField("X-Kept", "1"), HeaderField("Connection", "X-Hop"),
      ]
    )
    page.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
    return page
  }

  @Test("The cache is served by the directives of clients, the age of items and the origin's state")
  func table() throws {
    let site = Site()
    for (number, row) in Case.all.enumerated() { site[row.path] = Self.page(number) }
    let origin = try LoopbackServer { request in
      let script = site.respond(to: request)
      return request.path.hasPrefix("/slow")
        ? Script([.wait(.milliseconds(50))] + script.steps) : script
    }
    var lost: LoopbackServer? = try LoopbackServer { site.respond(to: $0) }
    let home = try Home(isInMemory: true)
    home.configure("network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }")
    var servers = try Case.all.map { row in
      try #require(row.isCut ? lost : origin)
    }
    let stored = Case.all.indices.filter { !Case.all[$0].state.rawValue.hasPrefix("absent") }
    let list = stored.map { servers[$0].address(Case.all[$0].path) }.joined(separator: "\n")
    let warm = try home.run("get", "--path", "-", input: list)
    try #require(warm.status == 0, "\(warm)")
    for (number, path) in zip(stored, warm.lines) {
      let row = Case.all[number]
      guard row.state == .damaged || row.state == .damagedAlone else { continue }
      FileTree.write(Array(row.body.utf8.map { $0 &+ 1 }), to: String(path))
    }
    let before = origin.requests.count
    let targets = zip(Case.all, servers).map { $0.1.servedPath($0.0.path) }
    servers = []
    lost = nil
    let servings = [
      "pull": try Serving(home, "--pull"), "lenient": try Serving(home, "--pull", "--max-stale"),
      "alone": try Serving(home),
    ]
    var count = 0
    for (row, target) in zip(Case.all, targets) {
      let name =
        row.state.rawValue.hasSuffix("Alone")
        ? "alone"
        : row.state == .lenient ? "lenient" : "pull"
      let serving = try #require(servings[name])
      try check(row, target, serving, site, origin)
      count += 1
    }
    #expect(count == 440)
    // No request reached the origin outside its case, and no client header was forwarded.
    #expect(origin.requests.dropFirst(before).allSatisfy { $0.headers["Cookie"] == nil })
    #expect(origin.requests.dropFirst(before).allSatisfy { $0.headers["Range"] == nil })
    for (name, serving) in servings {
      let run = serving.stop()
      #expect(run.status == 143 && run.errorsOfServer.isEmpty, "\(name): \(run)")
    }
    #expect(try home.run("verify").status == 74, "what was damaged and not asked for still is")
  }

  private func check(
    _ row: Case,
    _ target: String,
    _ serving: Serving,
    _ site: Site,
    _ origin: LoopbackServer
  ) throws {
    let tag = try #require(site[row.path]?.entityTag)
    let before = origin.requests(of: row.path).count
    var headers = ["Cookie: mine=1"] + [row.wish.rawValue].filter { !$0.isEmpty }
    if row.shape == .part { headers.append("Range: bytes=2-5") }
    if row.shape == .condition { headers.append("If-None-Match: \(tag)") }
    let response = try serving.client.get(
      target,
      headers,
      method: row.shape == .head ? "HEAD" : "GET"
    )
    let requests = origin.requests(of: row.path).dropFirst(before)
    let result = ServedTable.result(row.state, row.wish, row.shape)
    let story = Comment(rawValue: "\(row): \(result): \(response) after \(requests.count) requests")
    let status = response.headers["cache-status"] ?? ""
    switch result {
    case .hit:
      #expect(requests.isEmpty && status.hasPrefix("prefetch; hit; ttl=3"), story)
    case .staleHit:
      #expect(requests.isEmpty && status.hasPrefix("prefetch; hit; ttl=-1"), story)
    case .confirmed(let reason):
      #expect(requests.count == 1 && requests.first?.headers["If-None-Match"] == tag, story)
      #expect(status.hasPrefix("prefetch; fwd=\(reason); fwd-status=304; ttl="), story)
    case .fetched(let reason):
      #expect(requests.last?.headers["If-None-Match"] == nil, story)
      // A revalidation of a body that turns out damaged is followed by a full request.
      #expect(requests.count == 1 || (reason == "miss" && requests.count == 2), story)
      #expect(status.hasPrefix("prefetch; fwd=\(reason); fwd-status=200; ttl="), story)
      #expect(status.hasSuffix("; stored"), story)
    case .instead:
      #expect(status.hasPrefix("prefetch; fwd=") && status.hasSuffix("; detail=connect"), story)
      #expect(status.contains("; ttl=-1"), story)
    case .timeout:
      #expect(requests.isEmpty && response.status == 504, story)
      #expect(status.hasPrefix("prefetch; detail="), story)
      return
    case .missing:
      #expect(response.status == 404 && status == "prefetch; detail=absent", story)
      return
    case .broken:
      #expect(response.status == 500 && status == "prefetch; detail=damaged", story)
      return
    case .failed:
      #expect(response.status == 502 && status.hasSuffix("; detail=connect"), story)
      return
    }
    checkBody(response, row, tag, story)
  }

  private func checkBody(
    _ response: RawClient.Response,
    _ row: Case,
    _ tag: String,
    _ story: Comment
  ) {
    switch row.shape {
    case .whole:
      #expect(response.status == 200 && response.body == row.body, story)
    case .part:
      #expect(response.status == 206 && response.body == "2345", story)
      #expect(response.headers["content-range"] == "bytes 2-5/\(row.body.utf8.count)", story)
    case .condition:
      #expect(response.status == 304 && response.body.isEmpty, story)
      #expect(response.headers["content-type"] == nil, story)
    case .head:
      #expect(response.status == 200 && response.body.isEmpty, story)
      #expect(response.headers["content-length"] == String(row.body.utf8.count), story)
    }
    let age = response.headers["age"].flatMap { Int($0) } ?? -1
    let isFresh = [.fresh, .damaged, .freshAlone, .damagedAlone].contains(row.state)
    #expect((isFresh ? 100..<200 : 5_000..<5_100).contains(age), story)
    #expect(response.headers["etag"] == tag, story)
    #expect(response.headers["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT", story)
    #expect(response.headers["cache-control"] == "max-age=3600", story)
    for name in ["set-cookie", "x-hop"] { #expect(response.headers[name] == nil, story) }
    if row.shape == .whole {
      #expect(response.headers["content-type"] == "text/x-test", story)
      #expect(response.headers["x-kept"] == "1", story)
    }
  }
}
