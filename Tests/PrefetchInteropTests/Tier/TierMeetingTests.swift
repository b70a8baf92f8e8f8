import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// A second machine that finds the first machine's bodies in a shared store.
@Suite(
  "A shared store together with other features",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct TierMeetingTests {
  private let ground: TierGround

  private var site: Site { ground.site }

  init() throws {
    ground = try TierGround()
  }

  // MARK: Machines

  private static let trusted = "mode: read_write, trust: true"

  private func url(_ path: String) -> String { ground.origin.address(path) }

  private func machine(
    _ remote: String,
    _ segments: String,
    cache: String = "",
    network: String = "",
    _ more: String = ""
  ) throws -> Home {
    let home = try Home(isInMemory: true)
    home.configure(
      """
      name: fleet
      segments:
      \(segments)
      cache: { min_free: 0, remote: { url: "\(ground.tier.address("/t"))", \(remote) }\(cache) }
      network: { retries: { items: 0, lookups: 0 }\(network) }
      \(more)
      """
    )
    return home
  }

  private func publish(_ path: String, _ text: String, age: Int = 3_600, _ headers: String...) {
    let lines = ["Cache-Control: max-age=\(age)"] + headers
    site[path] = Site.Page(text, headers: lines.map { Self.field($0) })
  }

  private static func field(_ line: String) -> HeaderField {
    let name = line.prefix { $0 != ":" }
    return HeaderField(String(name), String(line.dropFirst(name.count + 2)))
  }

  private func redirect(_ path: String, to target: String, _ control: String) {
    let fields = [Self.field("Location: \(target)"), Self.field("Cache-Control: \(control)")]
    site[path] = Site.Page([], headers: fields, status: 302)
  }

  /// Returns the requests to the origin since the last call; ` if` marks conditional ones.
  private func drainRequests() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map { request in
      let isConditional = request.headers["If-None-Match"] != nil
      return "\(request.method) \(request.target)\(isConditional ? " if" : "")"
    }
    .sorted()
  }

  /// Returns the methods of the requests to the tier since a count.
  private func tierRequests(since count: Int) -> [String] {
    ground.tier.requests.dropFirst(count).map(\.method)
  }

  // MARK: A night of a fleet

  /// A declared item and the second machine's requests to the origin.
  private struct Row {
    var path: String
    var keys = ""
    var requests: [String] = []
    /// Requests once a copy is stored and the shared record is still fresh.
    var laterRequests: [String] = []
  }

  private static let rows = [
    Row(path: "/fresh"),
    Row(path: "/stale", requests: ["GET /stale if"], laterRequests: ["GET /stale if"]),
    Row(path: "/changed", requests: ["GET /changed if"], laterRequests: ["GET /changed if"]),
    Row(path: "/gone"),
    Row(path: "/pinned", keys: "sha256: PINNED"),
    Row(path: "/nothing", keys: "sha256: NOTHING"),
    Row(path: "/first"),
    Row(
      path: "/asked",
      requests: ["GET /asked", "GET /target"],
      laterRequests: ["GET /asked", "GET /target if"]
    ),
    Row(
      path: "/mirrored",
      keys: "alternates: [{ url: \"MIRROR\" }]",
      requests: ["GET /mirror", "GET /mirrored"],
      laterRequests: []
    ),
    Row(path: "/spoken", requests: ["GET /spoken"]),
    Row(path: "/headed", keys: "headers: { Accept-Language: de }", requests: ["GET /headed"]),
    Row(path: "/coded"),
    Row(path: "/stream.m3u8", keys: "type: hls"),
    Row(
      path: "/old.m3u8",
      keys: "type: hls",
      requests: ["GET /old.m3u8 if"],
      laterRequests: ["GET /old.m3u8 if"]
    ),
    Row(path: "/listed", laterRequests: []),
  ]

  private func publishAll() {
    for path in ["/fresh", "/gone", "/pinned", "/target", "/end", "/mirror", "/headed", "/listed"] {
      publish(path, "body of \(path)")
    }
    for path in ["/stale", "/changed"] { publish(path, "body of \(path)", age: 0) }
    publish("/nothing", "")
    redirect("/first", to: "/second", "max-age=900")
    redirect("/second", to: "/end", "max-age=600")
    redirect("/asked", to: "/target", "no-cache")
    publish("/spoken", "hello", age: 3_600, "Vary: Accept-Language")
    let text = Array(String(repeating: "coded ", count: 500).utf8)
    site["/coded"] = Site.Page(
      Coded.gzip(text),
      entityTag: "\"coded\"",
      headers: ["Cache-Control: max-age=3600", "Content-Encoding: gzip"].map { Self.field($0) }
    )
    for (name, age) in [("stream", 3_600), ("old", 0)] {
      publish(
        "/\(name).m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n",
        age: age,
        "Content-Type: application/vnd.apple.mpegurl"
      )
      publish("/\(name).ts", "film of \(name)", age: 3_600, "Content-Type: video/mp2t")
    }
    let list = [Manifest.Entry(url("/listed"))]
    publish("/list.json", Manifest.text(list))
  }

  private var segments: String {
    let items = Self.rows.filter { $0.path != "/listed" }.map { row in
      let keys = row.keys.replacing("MIRROR", with: url("/mirror"))
        .replacing("PINNED", with: Digest.hexadecimal("body of /pinned"))
        .replacing("NOTHING", with: Digest.hexadecimal(""))
      return "{ url: \"\(url(row.path))\"\(keys.isEmpty ? "" : ", \(keys)") }"
    }
    return """
        - name: s
          publish: { dir: tree }
          urls: [\(items.joined(separator: ", "))]
        - { name: list, manifest: "\(url("/list.json"))" }
      """
  }

  @Test(
    "A second machine requests what no machine has, and gets the rest no fresher than the first"
  )
  func second() throws {
    publishAll()
    let first = try machine(Self.trusted, segments)
    let fill = try first.run("--json", "--items", "all")
    #expect(fill.status == 0 && fill.errors.isEmpty, "\(fill)")
    _ = drainRequests()
    publish("/changed", "newer body", age: 0)
    for path in ["/gone", "/pinned", "/nothing"] { site[path] = nil }

    let home = try machine(Self.trusted, segments)
    var seen = ground.tier.requests.count
    let plan = try home.run("plan", "--items", "all")
    #expect(plan.status == 0 && plan.lines.count == Self.rows.count, "\(plan)")
    #expect(plan.lines.allSatisfy { $0.hasPrefix("fetch\t") }, "\(plan)")
    #expect(!tierRequests(since: seen).contains("PUT"), "a plan wrote")
    #expect(drainRequests().allSatisfy { !$0.contains("/gone") && !$0.contains("/pinned") })

    seen = ground.tier.requests.count
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(drainRequests() == Self.rows.flatMap(\.requests).sorted(), "\(run)")
    try compare(home, with: first, run.json(), fill.json())
    let publish = try home.run("publish", "--json")
    #expect(try publish.json().number("segments.0.made") == 0, "\(publish)")
    #expect(try home.run("verify").status == 0)

    // Nothing has changed by the next night.
    let again = try home.run("--json")
    #expect(again.status == 0, "\(again)")
    #expect(drainRequests() == Self.rows.flatMap(\.laterRequests).sorted(), "\(again)")
    #expect(try again.totals()["fetched"] == 0 && again.totals()["updated"] == 0)
    try repair(home)
  }

  /// Compares bodies and descriptions of two machines.
  ///
  /// Without a request to the origin, freshness must not exceed that of the first machine.
  private func compare(_ home: Home, with first: Home, _ run: Node, _ fill: Node) throws {
    let theirs = try items(first)
    for (url, item) in try items(home) {
      let other = try #require(theirs[url], "\(url)")
      if url != self.url("/changed") {
        #expect(item.text("digest") == other.text("digest"), "\(url)")
      }
      let ends = [item, other].map { $0.text("expires_at").flatMap { Timestamp.parse($0) } }
      let isRequested = Self.rows.contains { self.url($0.path) == url && !$0.requests.isEmpty }
      if !isRequested, let end = ends[0], let limit = ends[1] {
        #expect(end <= limit + .seconds(1), "\(url) is fresher than it was")
      }
      let isPinned = url == self.url("/pinned") || url == self.url("/nothing")
      #expect(isPinned || (ends[0] == nil) == (ends[1] == nil), "\(url)")
      if !isPinned, url != self.url("/changed") {
        #expect(headers(item) == headers(other), "\(url)")
      }
    }
    for key in ["final_url", "redirects"] {
      for item in run.list("items") {
        let other = fill.list("items").first { $0.text("url") == item.text("url") }
        #expect(item.text(key) == other?.text(key), "\(item.text("url") ?? ""): \(key)")
      }
    }
  }

  private func items(_ home: Home) throws -> [String: Node] {
    let items = try home.run("list", "--json").json().list("items")
    return items.reduce(into: [:]) { $0[$1.text("url") ?? ""] = $1 }
  }

  private func headers(_ item: Node) -> [String] {
    item.list("headers").map { "\($0.text("name")?.lowercased() ?? ""): \($0.text("value") ?? "")" }
      .filter { !$0.hasPrefix("age:") && !$0.hasPrefix("date:") }
      .sorted()
  }

  /// Checks that damaged bodies are restored from the tier, without a request to the origin.
  private func repair(_ home: Home) throws {
    for path in ["/fresh", "/pinned"] {
      let file = try home.run("path", url(path)).lines.first ?? ""
      #expect(try home.shell("chmod u+w '\(file)' && echo damaged > '\(file)'").status == 0)
    }
    #expect(try home.run("verify", "--repair").status == 74)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0, "\(run)")
    #expect(drainRequests() == Self.rows.flatMap(\.laterRequests).sorted(), "\(run)")
    let sources = try run.json().list("items").filter { item in
      [url("/fresh"), url("/pinned")].contains(item.text("url"))
    }
    #expect(sources.map { $0.text("source") } == ["remote", "remote"], "\(run)")
    #expect(try home.run("verify").status == 0)
  }

  // MARK: Parts

  @Test("A part of a body that the origin lost does not keep a run from the shared store")
  func parts() throws {
    let text = String(repeating: "large body\n", count: 40_000)
    publish("/a", text)
    publish("/b", text + "b")
    let segment =
      "  - { name: s, urls: [\"\(url("/a"))#sha256=\(Digest.hexadecimal(text))\", \"\(url("/b"))\"] }"
    let home = try machine("mode: read, trust: true", segment)
    // The line breaks in the middle of both.
    ground.conduct { [site] request in
      guard let page = site[request.target] else { return nil }
      let head = [("ETag", page.entityTag ?? ""), ("Content-Length", "\(page.body.count)")]
      return Script([.send(Script.head(200, head) + page.body.prefix(200_000)), .close])
    }
    #expect(try home.run("-q").status != 0)
    ground.conduct { _ in nil }
    #expect(try !parts(in: home).isEmpty)
    let other = try machine(Self.trusted, segment)
    #expect(try other.run("-q").status == 0)
    for path in ["/a", "/b"] { site[path] = nil }
    _ = drainRequests()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(drainRequests() == [])
    #expect(try home.run("verify").status == 0)
    #expect(try parts(in: home) == [])
  }

  private func parts(in home: Home) throws -> [String] {
    try home.shell("find '\(home.cache)/partial' -type f").lines.map { String($0) }
  }

  // MARK: Limits

  @Test(
    "Bytes of a shared store count for the daily limit, and the limit is not its failure"
  )
  func dailyLimit() throws {
    let text = String(repeating: "0123456789", count: 20_000)
    publish("/a", text)
    let pinned = "\(url("/a"))#sha256=\(Digest.hexadecimal(text))"
    let segment = "  - { name: s, urls: [\"\(pinned)\"] }"
    #expect(try machine(Self.trusted, segment).run("-q").status == 0)
    // The tier's body is wrong, so the correct one is fetched after it.
    ground.store.behave { request, file in
      request.method == "GET" && request.path.contains("/cas/")
        ? .respond(200, body: Array((file ?? []).reversed())) : nil
    }
    let network = ", type: ethernet, daily_limit: LIMIT"
    let home = try machine("mode: read", segment, network: network.replacing("LIMIT", with: "1MB"))
    #expect(try home.run("-q").status == 0)
    let used = try home.run("status", "--json").json().number("quotas.0.used") ?? 0
    #expect((400_000...420_000).contains(used), "\(used)")
    ground.store.behave { _, _ in nil }
    let poor = try machine(
      "mode: read",
      segment,
      network: network.replacing("LIMIT", with: "100kB")
    )
    let run = try poor.run("--json")
    #expect(run.status == 75 && !run.errors.contains("cache.remote"), "\(run)")
    #expect(try run.json().number("remote.troubles") == 0)
    #expect(try run.json().text("items.0.deferred.rule") == "daily_limit", "\(run)")
  }

  @Test("A record of a redirect to a missing target is replaced by the origin's redirect")
  func movedOn() throws {
    publish("/v1", "one")
    redirect("/latest", to: "/v1", "max-age=3600")
    let segment = "  - { name: s, on_gone: remove, urls: [\"\(url("/latest"))\"] }"
    let first = try machine(Self.trusted, segment)
    #expect(try first.run("-q").status == 0)
    // The body is lost, and the origin has moved on.
    let body = Digest.hexadecimal("one")
    ground.store.files = ground.store.files.filter { !$0.key.hasSuffix(body) }
    site["/v1"] = nil
    publish("/v2", "two")
    redirect("/latest", to: "/v2", "max-age=3600")
    _ = drainRequests()
    let second = try machine(Self.trusted, segment)
    let run = try second.run("--json")
    #expect(try run.status == 0 && run.totals()["fetched"] == 1, "\(run)")
    #expect(drainRequests() == ["GET /latest", "GET /v2"])
    let read = try second.run("get", "--offline", url("/latest"))
    #expect(read.output == "two", "\(read)")
    // A machine with the old body is not made to remove the body.
    let late = try first.run("--revalidate", "--json")
    #expect(try late.status == 0 && late.totals()["removed"] == 0, "\(late)")
  }

  @Test(
    "A shared store gets no request offline, and no read with `--refetch`"
  )
  func silence() throws {
    publish("/a", "body of a")
    let segment = "  - { name: s, urls: [\"\(url("/a"))\"] }"
    #expect(try machine(Self.trusted, segment).run("-q").status == 0)
    _ = drainRequests()
    let seen = ground.tier.requests.count
    let home = try machine(Self.trusted, segment)
    #expect(try home.run("--offline").status != 0)
    #expect(tierRequests(since: seen) == [] && drainRequests() == [])
    #expect(try home.run("--refetch", "-q").status == 0)
    #expect(drainRequests() == ["GET /a"] && !tierRequests(since: seen).contains("GET"))
  }

  // MARK: Single items

  @Test(
    "An item of `get` comes from a shared store too, as does one of a server"
  )
  func single() throws {
    publish("/a", "body of a")
    publish("/b", "body of b")
    let both = "  - { name: s, urls: [\"\(url("/a"))\", \"\(url("/b"))\"] }"
    #expect(try machine(Self.trusted, both).run("-q").status == 0)
    for path in ["/a", "/b"] { site[path] = nil }
    _ = drainRequests()
    let home = try machine(Self.trusted, "  - { name: none, urls: [], allow_empty: true }")
    let get = try home.run("get", url("/a"))
    #expect(get.status == 0 && get.output == "body of a", "\(get)")
    let serving = try Serving(home, "--pull")
    let response = try serving.client.get(ground.origin.servedPath("/b"))
    #expect(response.status == 200 && response.body == "body of b")
    _ = serving.stop()
    #expect(drainRequests() == [])
    #expect(try home.run("get", "--revalidate", url("/a")).status != 0)
    #expect(drainRequests().count == 1)
  }

  @Test("A pulling server uploads what its clients fetch to a shared store")
  func pulledForOthers() throws {
    publish("/a", "body of a")
    publish("/b", "body of b")
    let none = "  - { name: none, urls: [], allow_empty: true }"
    let home = try machine("trust: true, mode: read_write", none)
    let serving = try Serving(home, "--pull")
    for (path, body) in [("/a", "body of a"), ("/b", "body of b"), ("/a", "body of a")] {
      #expect(try serving.client.get(ground.origin.servedPath(path)).body == body)
    }
    #expect(serving.stop().status == 143)
    for path in ["/a", "/b"] { site[path] = nil }
    let other = try machine(Self.trusted, none)
    #expect(try other.run("get", url("/a")).output == "body of a")
    #expect(try other.run("get", url("/b")).output == "body of b")
  }

  // MARK: Jobs

  @Test("Shards upload to a shared store, and bodies of lower layers are not requested from it")
  func shardsAndLayers() throws {
    ground.publish(20)
    let segment = "  - { name: s, manifest: \"\(url("/list.json"))\" }"
    for index in 0..<2 {
      let part = try machine(Self.trusted, segment)
      #expect(try part.run("-q", "--shard", "\(index)/2").status == 0)
    }
    #expect(drainRequests().filter { $0 != "GET /list.json" }.count == 20)
    let whole = try machine(Self.trusted, segment)
    #expect(try whole.run("-q").status == 0)
    #expect(drainRequests() == [])
    try ground.expectAll(20, in: whole)
    let seen = ground.tier.requests.count
    let above = try machine("trust: true", segment, cache: ", lower: [\"\(whole.cache)\"]")
    #expect(try above.run("-q").status == 0)
    // Only the list is revalidated; items without digests are fresh in the lower layer.
    #expect(tierRequests(since: seen) == ["GET"] && drainRequests() == [])
  }

  @Test("Two runs on one cache request each body once, and a killed one leaves nothing partial")
  func jobs() throws {
    ground.publish(20)
    let segment = "  - { name: s, manifest: \"\(url("/list.json"))\" }"
    #expect(try machine(Self.trusted, segment).run("-q").status == 0)
    _ = drainRequests()
    let home = try machine("trust: true", segment)
    let first = "/t/cas/\(Digest.hexadecimal(TierGround.text(0)))"
    ground.store.behave { request, _ in
      guard request.path == first else { return nil }
      return Script([.send(Script.head(200, [("Content-Length", "9")])), .silence])
    }
    let killed = try home.start(["-q"])
    #expect(ground.tier.waitForRequest(first))
    killed.signal(9)
    _ = killed.finish(within: 30)
    ground.store.behave { _, _ in nil }
    #expect(try home.run("verify").status == 0)
    let seen = ground.tier.requests.count
    let runs = try ["one", "two"].map { name in
      try home.start(["-q", "--set", "name=\(name)"])
    }
    for run in runs {
      let end = run.finish(within: 60)
      #expect(end.status == 0, "\(end)")
    }
    #expect(drainRequests() == [])
    let bodies = ground.tier.requests.dropFirst(seen).map(\.path).filter { $0.contains("/cas/") }
    #expect(Set(bodies).count == 21)
    let repeated = Dictionary(grouping: bodies, by: \.self).filter { $0.value.count > 1 }
    // Two runs may each fetch a list.
    #expect(repeated.count <= 1, "\(repeated.keys)")
    try ground.expectAll(20, in: home)
  }
}
