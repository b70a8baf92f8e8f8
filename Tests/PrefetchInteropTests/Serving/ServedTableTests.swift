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
    let place = Case.all[number]
    let isFresh = [.fresh, .damaged, .freshAlone, .damagedAlone].contains(place.state)
    var page = Site.Page(
      place.body,
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
    for (number, place) in Case.all.enumerated() { site[place.path] = Self.page(number) }
    let origin = try LoopbackServer { request in
      let script = site.respond(to: request)
      return request.path.hasPrefix("/slow")
        ? Script([.wait(.milliseconds(50))] + script.steps) : script
    }
    var lost: LoopbackServer? = try LoopbackServer { site.respond(to: $0) }
    let home = try Home(isInMemory: true)
    home.configure("network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }")
    var places = try Case.all.map { place in
      try #require(place.isCut ? lost : origin)
    }
    let stored = Case.all.indices.filter { !Case.all[$0].state.rawValue.hasPrefix("absent") }
    let list = stored.map { places[$0].address(Case.all[$0].path) }.joined(separator: "\n")
    let warm = try home.run("get", "--path", "-", input: list)
    try #require(warm.status == 0, "\(warm)")
    for (number, path) in zip(stored, warm.lines) {
      let place = Case.all[number]
      guard place.state == .damaged || place.state == .damagedAlone else { continue }
      FileTree.write(Array(place.body.utf8.map { $0 &+ 1 }), to: String(path))
    }
    let before = origin.requests.count
    let targets = zip(Case.all, places).map { $0.1.place($0.0.path) }
    places = []
    lost = nil
    let servings = [
      "pull": try Serving(home, "--pull"), "lenient": try Serving(home, "--pull", "--max-stale"),
      "alone": try Serving(home),
    ]
    var count = 0
    for (place, target) in zip(Case.all, targets) {
      let name =
        place.state.rawValue.hasSuffix("Alone")
        ? "alone"
        : place.state == .lenient ? "lenient" : "pull"
      let serving = try #require(servings[name])
      try check(place, target, serving, site, origin)
      count += 1
    }
    #expect(count == 440)
    // No request reached the origin outside its case, and no client header was forwarded.
    #expect(origin.requests.dropFirst(before).allSatisfy { $0.headers["Cookie"] == nil })
    #expect(origin.requests.dropFirst(before).allSatisfy { $0.headers["Range"] == nil })
    for (name, serving) in servings {
      let run = serving.stop()
      #expect(run.status == 143 && run.errors.isEmpty, "\(name): \(run)")
    }
    #expect(try home.run("verify").status == 74, "what was damaged and not asked for still is")
  }

  private func check(
    _ place: Case,
    _ target: String,
    _ serving: Serving,
    _ site: Site,
    _ origin: LoopbackServer
  ) throws {
    let tag = try #require(site[place.path]?.entityTag)
    let before = origin.requests(of: place.path).count
    var headers = ["Cookie: mine=1"] + [place.wish.rawValue].filter { !$0.isEmpty }
    if place.shape == .part { headers.append("Range: bytes=2-5") }
    if place.shape == .condition { headers.append("If-None-Match: \(tag)") }
    let answer = try serving.client.get(
      target,
      headers,
      method: place.shape == .head ? "HEAD" : "GET"
    )
    let asked = origin.requests(of: place.path).dropFirst(before)
    let result = ServedTable.result(place.state, place.wish, place.shape)
    let story = Comment(rawValue: "\(place): \(result): \(answer) after \(asked.count) requests")
    let status = answer.headers["cache-status"] ?? ""
    switch result {
    case .hit:
      #expect(asked.isEmpty && status.hasPrefix("prefetch; hit; ttl=3"), story)
    case .staleHit:
      #expect(asked.isEmpty && status.hasPrefix("prefetch; hit; ttl=-1"), story)
    case .confirmed(let reason):
      #expect(asked.count == 1 && asked.first?.headers["If-None-Match"] == tag, story)
      #expect(status.hasPrefix("prefetch; fwd=\(reason); fwd-status=304; ttl="), story)
    case .fetched(let reason):
      #expect(asked.last?.headers["If-None-Match"] == nil, story)
      // A revalidation of a body that turns out damaged is followed by a full request.
      #expect(asked.count == 1 || (reason == "miss" && asked.count == 2), story)
      #expect(status.hasPrefix("prefetch; fwd=\(reason); fwd-status=200; ttl="), story)
      #expect(status.hasSuffix("; stored"), story)
    case .instead:
      #expect(status.hasPrefix("prefetch; fwd=") && status.hasSuffix("; detail=connect"), story)
      #expect(status.contains("; ttl=-1"), story)
    case .timeout:
      #expect(asked.isEmpty && answer.status == 504, story)
      #expect(status.hasPrefix("prefetch; detail="), story)
      return
    case .missing:
      #expect(answer.status == 404 && status == "prefetch; detail=absent", story)
      return
    case .broken:
      #expect(answer.status == 500 && status == "prefetch; detail=damaged", story)
      return
    case .failed:
      #expect(answer.status == 502 && status.hasSuffix("; detail=connect"), story)
      return
    }
    checkBody(answer, place, tag, story)
  }

  private func checkBody(
    _ answer: RawClient.Answer,
    _ place: Case,
    _ tag: String,
    _ story: Comment
  ) {
    switch place.shape {
    case .whole:
      #expect(answer.status == 200 && answer.body == place.body, story)
    case .part:
      #expect(answer.status == 206 && answer.body == "2345", story)
      #expect(answer.headers["content-range"] == "bytes 2-5/\(place.body.utf8.count)", story)
    case .condition:
      #expect(answer.status == 304 && answer.body.isEmpty, story)
      #expect(answer.headers["content-type"] == nil, story)
    case .head:
      #expect(answer.status == 200 && answer.body.isEmpty, story)
      #expect(answer.headers["content-length"] == String(place.body.utf8.count), story)
    }
    let age = answer.headers["age"].flatMap { Int($0) } ?? -1
    let isFresh = [.fresh, .damaged, .freshAlone, .damagedAlone].contains(place.state)
    #expect((isFresh ? 100..<200 : 5_000..<5_100).contains(age), story)
    #expect(answer.headers["etag"] == tag, story)
    #expect(answer.headers["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT", story)
    #expect(answer.headers["cache-control"] == "max-age=3600", story)
    for name in ["set-cookie", "x-hop"] { #expect(answer.headers[name] == nil, story) }
    if place.shape == .whole {
      #expect(answer.headers["content-type"] == "text/x-test", story)
      #expect(answer.headers["x-kept"] == "1", story)
    }
  }
}
