import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@Suite("A manifest of several documents")
struct PartTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  private static let fresh = [HeaderField("Cache-Control", "immutable, max-age=31536000")]
  private static let type = [HeaderField("Content-Type", "application/json")]

  let bench = Bench([
    "/a": .init("A", headers: fresh), "/b": .init("B", headers: fresh),
    "/c": .init("C", headers: fresh), "/d": .init("D", headers: fresh),
  ])

  init() {
    publish("m.json", ["a"], next: "2.json")
    publish("2.json", ["b"], next: "3.json")
    publish("3.json", ["c"])
  }

  private func publish(_ name: String, _ items: [String], next: String? = nil) {
    let lines = items.map { "{\"url\": \"\($0)\", \"id\": \"\($0)\"}" }.joined(separator: ", ")
    let more = next.map { "\"next\": \"\($0)\", " } ?? ""
    bench.site["/" + name] = .init(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \(more)\"items\": [\(lines)]}",
      headers: Self.type
    )
  }

  private func publishSitemaps(_ children: [String]) {
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\""
    let xml = [HeaderField("Content-Type", "application/xml")]
    let lines = children.map { "<sitemap><loc>https://a.example/\($0).xml</loc></sitemap>" }
    bench.site["/m.json"] = .init(
      "<sitemapindex \(space)>\(lines.joined())</sitemapindex>",
      headers: xml
    )
    for name in ["a", "b", "c"] {
      bench.site["/\(name).xml"] = .init(
        "<urlset \(space)><url><loc>https://a.example/\(name)</loc></url></urlset>",
        headers: xml
      )
    }
  }

  private func run(_ mode: RunRequest.Mode = .run) throws -> Report {
    try bench.run([("s", ["m.json"])], mode: mode)
  }

  private var bodies: Set<String> {
    get throws { Set(try bench.contents.values) }
  }

  @Test("A manifest of several documents is read as a whole, each with its own validators")
  func whole() throws {
    let first = try run()
    #expect(ExitStatus(first) == .ok)
    #expect(first.totals.fetched == 3)
    #expect(try bodies == ["A", "B", "C"])
    #expect(
      try bench.store.segments().first?.documents.map(\.url).map { $0.suffix(6) } == [
        "2.json", "3.json",
      ]
    )

    let second = try run()
    #expect(bench.requests == ["GET /2.json", "GET /3.json", "GET /m.json"])
    #expect(second.totals.notModified == 3 && second.totals.kept == 3)
    #expect(second.segments.first?.manifest.status == .notModified)

    publish("3.json", ["c", "d"])
    let third = try run()
    #expect(third.totals.fetched == 1 && third.totals.notModified == 2)
    #expect(third.segments.first?.manifest.status == .fetched)
    #expect(try bodies == ["A", "B", "C", "D"])
    #expect(bench.store.staging.bodyCount == 0)
  }

  @Test(
    "A manifest of several documents fails as a whole without one of them",
    arguments: [404, 500, 200]
  )
  func missing(status: Int) throws {
    bench.policy.retries.count = 0
    _ = try run()
    publish("m.json", [], next: "2.json")
    bench.site["/3.json"] = .init(Array("<html>".utf8), headers: [], status: status)
    let report = try run()
    #expect(report.segments.first?.manifest.failure != nil)
    #expect(report.segments.first?.state == .incomplete)
    #expect(report.segments.first?.manifest.failure?.message.contains("3.json") == true)
    #expect(try bodies == ["A", "B", "C"])
    #expect(report.totals.removed == 0)
    #expect(bench.store.staging.bodyCount == 0)
    #expect(try bench.store.segments().first?.documents.count == 2)
  }

  @Test("Items removed from a page are removed, and pages removed from a manifest are forgotten")
  func shrinks() throws {
    _ = try run()
    let old = try #require(try bench.store.segments().first?.documents.last?.digest)
    publish("2.json", ["b"])
    let report = try run()
    #expect(report.totals.removed == 1)
    #expect(try bodies == ["A", "B"])
    #expect(try bench.store.segments().first?.documents.count == 1)
    #expect(throws: (any Error).self) { try bench.store.withObject(old) { _ in } }
    publish("m.json", ["a"])
    _ = try run()
    #expect(try bench.store.segments().first?.documents == [])
    _ = try run()
    #expect(bench.requests == ["GET /m.json"])
  }

  @Test(
    "A manifest of several documents does not follow a circle",
    arguments: ["m.json", "2.json"]
  )
  func circle(target: String) throws {
    publish("3.json", ["c"], next: target)
    let report = try run()
    #expect(report.segments.first?.manifest.failure?.code == .manifestInvalid)
    #expect(try bodies == [])
  }

  @Test("A manifest has at most a hundred further pages")
  func pages() throws {
    for number in 2...103 {
      publish("\(number).json", ["b"], next: number < 103 ? "\(number + 1).json" : nil)
    }
    #expect(try run().segments.first?.manifest.failure?.code == .manifestInvalid)
    publish("101.json", ["c"])
    #expect(ExitStatus(try run()) == .ok)
  }

  @Test("A manifest of several documents is planned as a whole, and offline from the store")
  func dryAndOffline() throws {
    let plan = try run(.plan)
    #expect(bench.requests.filter { $0.hasSuffix(".json") }.count == 3)
    #expect(plan.items.map(\.action) == [.fetch, .fetch, .fetch])
    #expect(bench.store.commitCount == 0 && bench.store.staging.bodyCount == 0)
    _ = try run()
    bench.policy.isOffline = true
    let offline = try run(.plan)
    #expect(bench.requests == [])
    #expect(offline.totals.kept == 3)
  }

  @Test("A document that the store lost is requested again")
  func lost() throws {
    _ = try run()
    let digest = try #require(try bench.store.segments().first?.documents.first?.digest)
    bench.store.lost = [digest]
    let report = try run()
    #expect(ExitStatus(report) == .ok)
    #expect(report.totals.kept == 3)
    #expect(bench.requests.filter { $0 == "GET /2.json" }.count == 2)
    #expect(bench.store.lost.isEmpty)
  }

  @Test("An index of sitemaps is a manifest, with its items in order")
  func sitemaps() throws {
    publishSitemaps(["c", "a", "b", "a"])
    bench.listsKept = true
    _ = try run()
    let report = try run()
    #expect(ExitStatus(report) == .ok)
    #expect(report.items.map { $0.url.suffix(1) } == ["c", "a", "b"])
    #expect(bench.requests == ["GET /a.xml", "GET /b.xml", "GET /c.xml", "GET /m.json"])
  }

  @Test("Pages are relative to their manifest, wherever its items are")
  func base() throws {
    var segment = SegmentDeclaration(
      name: "s",
      source: .remote(try WebURL("https://a.example/m.json"))
    )
    segment.base = try WebURL("https://cdn.example/x/")
    publish("2.json", ["b"])
    bench.site["/x/a"] = .init("far A")
    bench.site["/x/b"] = .init("far B")
    #expect(ExitStatus(try bench.run(segments: [segment])) == .ok)
    #expect(bench.requests == ["GET /2.json", "GET /m.json", "GET /x/a", "GET /x/b"])
    #expect(try bodies == ["far A", "far B"])
  }

  // MARK: Package indexes

  private static let wheel = "left-1.0-py3-none-any.whl"

  private static func sha256(_ text: String) -> String {
    SHA256.digest(of: text).hexadecimal
  }

  /// Publishes a requirements file and the index page of its only project.
  private func publishRequirements(_ page: Site.Page?) throws -> SegmentDeclaration {
    bench.site["/r.txt"] = .init(
      """
      --index-url https://a.example/simple
      Left==1.0 --hash=sha256:\(Self.sha256("wheel"))
      """,
      headers: [HeaderField("Content-Type", "text/plain")]
    )
    bench.site["/simple/left/"] = page
    bench.site["/f/\(Self.wheel)"] = .init("wheel")
    var segment = SegmentDeclaration(
      name: "s",
      source: .remote(try WebURL("https://a.example/r.txt"))
    )
    segment.manifestRules.format = .pip
    return segment
  }

  static let indexes: [(type: String, body: String)] = [
    (
      "application/vnd.pypi.simple.v1+json",
      """
      {"meta": {"api-version": "1.0"}, "name": "left", "files": [{"filename": "\(wheel)",
      "url": "../../f/\(wheel)", "hashes": {"sha256": "\(sha256("wheel"))"}},
      {"filename": "left-2.0.tar.gz", "url": "/f/2", "hashes": {"sha256": "\(sha256("other"))"}}]}
      """
    ),
    (
      "text/html",
      """
      <!DOCTYPE html><body><a href="../../f/\(wheel)#sha256=\(sha256("wheel"))">\(wheel)</a>
      <a href="/f/2#sha256=\(sha256("other"))">left-2.0.tar.gz</a></body>
      """
    ),
  ]

  @Test(
    "A list of requirements fetches the chosen files of its projects' indexes",
    arguments: indexes
  )
  func index(type: String, body: String) throws {
    let page = Site.Page(body, headers: [HeaderField("Content-Type", type)])
    let segment = try publishRequirements(page)
    let first = try bench.run(segments: [segment])
    #expect(ExitStatus(first) == .ok)
    #expect(try bench.contents == [Self.wheel: "wheel"])
    let request = bench.site.requests.first { $0.path == "/simple/left/" }
    #expect(request?.headers["Accept"]?.hasPrefix("application/vnd.pypi.simple.v1+json") == true)

    let second = try bench.run(segments: [segment])
    #expect(bench.requests == ["GET /r.txt"], "what the requirement means is stored")
    #expect(second.totals.notModified == 1 && second.totals.kept == 1)

    bench.site["/simple/left/"] = nil
    let removed = try bench.run(segments: [segment])
    #expect(ExitStatus(removed) == .ok && removed.totals.kept == 1)
  }

  @Test("A missing index of a project, or one without a matching file, is reported")
  func indexWithout() throws {
    let missing = try bench.run(segments: [try publishRequirements(nil)])
    #expect(missing.segments.first?.manifest.failure?.code == .gone)
    #expect(missing.segments.first?.manifest.failure?.message.contains("/simple/left/") == true)
    let page = Site.Page(
      "<a href='/f/2#sha256=\(Self.sha256("other"))'>left-2.0.tar.gz</a>",
      headers: [HeaderField("Content-Type", "text/html")]
    )
    let report = try bench.run(segments: [try publishRequirements(page)])
    #expect(report.items.map(\.failure?.code) == [.notFound])
    #expect(report.items.first?.failure?.message.contains("none of the 1 file") == true)
  }

  @Test("A failed document ends the requests for the others")
  func givesUp() throws {
    publishSitemaps(["a", "b", "c"])
    bench.policy.retries.count = 3
    let transport = FakeTransport(staging: bench.store, site: bench.site)
    let busy = FakeTransport(staging: bench.store) { request in
      switch request.url.path {
      case "/m.json":
        let page = bench.site["/m.json"]
        return .response(status: 200, headers: page?.headers ?? [], body: page?.body ?? [])
      case "/a.xml": return .response(status: 404, headers: [], body: [])
      case "/b.xml": return .never
      default:
        return .response(status: 503, headers: [HeaderField("Retry-After", "100")], body: [])
      }
    }
    let manifest = SegmentDeclaration.Source.remote(try WebURL("https://a.example/m.json"))
    let segment = SegmentDeclaration(name: "s", source: manifest)
    let start = bench.clock.now().uptime
    let report = try bench.run([segment], over: busy)
    #expect(report.segments.first?.manifest.failure != nil)
    #expect(bench.clock.now().uptime - start < .seconds(100))
    #expect(ExitStatus(try bench.run([segment], over: transport)) == .ok)
  }
}
