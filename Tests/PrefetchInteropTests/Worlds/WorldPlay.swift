import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays a world night after night with the real program.
struct WorldPlay {
  private let world: World
  private let origin: WorldOrigin
  private let home: Home
  /// Digests of the bodies that a URL has led to, in all nights so far.
  private var given: [String: Set<String>] = [:]

  init(_ seed: UInt64, hasLists: Bool = true) throws {
    world = World(seed, hasLists: hasLists)
    origin = try WorldOrigin(world.wire, world.pages)
    home = try Home(isInMemory: true)
  }

  mutating func play() throws {
    for night in 0..<World.nights {
      origin.begin(night, lists: world.lists(in: night, origin))
      home.write(try world.configuration(in: night, origin))
      for item in world.segments.flatMap(\.items) { recordBodies(item, in: night) }
      try self.night(night, in: home).play()
    }
  }

  /// Plays each night as a run with one cache, and as single requests with another.
  mutating func playTwins() throws {
    let other = try Home(isInMemory: true)
    for night in 0..<World.nights {
      origin.begin(night, lists: [:])
      for home in [home, other] { home.write(try world.configuration(in: night, origin)) }
      for item in world.segments.flatMap(\.items) { recordBodies(item, in: night) }
      let (run, gets) = (self.night(night, in: home), self.night(night, in: other))
      try gets.compareGets(to: run)
    }
  }

  private func night(_ number: Int, in home: Home) -> Night {
    Night(number: number, world: world, origin: origin, home: home, given: given)
  }

  private mutating func recordBodies(_ item: World.Item, in night: Int) {
    for path in [item.path, item.alternate].compactMap(\.self) {
      guard let body = world.body(path, in: night) else { continue }
      given[item.path, default: []].insert(Digest.hexadecimal(body))
    }
  }
}

/// A night: a plan, a run, the store's content, a second run and its readers' results.
private struct Night {
  let number: Int
  let world: World
  let origin: WorldOrigin
  let home: Home
  let given: [String: Set<String>]

  private func expect(
    _ isSo: Bool,
    _ comment: @autoclosure () -> String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    guard !isSo else { return }
    let configuration = home.read("prefetch.yaml") ?? ""
    let replies = world.pages.map {
      "\($0.path) \($0.replies) \($0.validators) \($0.lifetime?.value ?? "-")"
    }
    Issue.record(
      """
      seed \(world.seed), night \(number): \(comment())
      \(replies.joined(separator: "\n"))
      \(configuration)
      \(world.lists(in: number, origin).values.joined(separator: "\n"))
      """,
      sourceLocation: location
    )
  }

  private func report(_ command: String) throws -> (WorldReport, [WorldOrigin.Exchange]) {
    _ = origin.drainLog()
    let run = try home.run(command, "--json", "--items", "all", "--jobs", "\(world.jobs)")
    return (try WorldReport(run), origin.drainLog())
  }

  func play() throws {
    let (plan, probes) = try report("plan")
    let (run, requests) = try report("run")
    check(plan, probes)
    check(run, requests)
    compare(plan, run)
    let store = try stored()
    checkStore(store, after: run)
    let (second, repeated) = try report("run")
    check(second, repeated)
    // A server that answered other requests in the first run may fail in the next.
    let hasResponse = { (log: [WorldOrigin.Exchange]) in log.contains { $0.status < 500 } }
    if hasResponse(requests) == hasResponse(repeated) { checkEnds(run, second) }
    checkRepetition(second, repeated, store)
    try checkReaders(second, try stored())
    let verified = try home.run("verify", "-q")
    expect(verified.status == 0, "verify: \(verified)")
  }

  // MARK: Reports

  private var required: Set<String> {
    Set(world.segments.filter { !$0.keys.contains("required: false") }.map(\.name))
  }

  /// Counts, requests and exit status follow from the items and from the log of the origin.
  private func check(_ report: WorldReport, _ log: [WorldOrigin.Exchange]) {
    let mode = report.document.text("run.mode") ?? "-"
    expect(
      report.total("requests") == log.count,
      "\(mode) counts \(report.total("requests")) requests, the origin \(log)\n\(report.summary)"
    )
    let unmodified = log.count { $0.status == 304 }
    expect(report.total("not_modified") == unmodified, "\(mode): not_modified, \(log)")
    let parts = ["kept", "revalidated", "fetched", "updated", "deferred", "failed"]
    expect(
      report.total("items") == parts.map(report.total).reduce(0, +),
      "\(mode): items are not the sum of their parts\n\(report.summary)"
    )
    if mode == "plan" {
      let bodies = log.filter { $0.method != "HEAD" && !$0.path.hasSuffix(".json") }
      expect(bodies.isEmpty, "a plan sent \(bodies)")
    }
    let wanted = report.expectedStatus(
      required: required,
      all: world.segments.map(\.name),
      hasResponse: log.contains { $0.status < 500 }
    )
    expect(
      report.run.status == wanted,
      "\(mode) ends \(report.run.status), not \(wanted)\n\(report.summary)"
    )
  }

  /// Whether HEAD does not show all that decides about a URL.
  private func isHidden(_ url: String) -> Bool {
    world.segments.flatMap(\.items).contains { item in
      guard world.url(item.path, origin) == url else { return false }
      if item.declared == .wrongDigest || item.alternate != nil { return true }
      return [item.path, item.alternate].compactMap(\.self).contains { path in
        guard let goal = world.goal(path, in: number) else { return false }
        return goal.page.isChunked || goal.page.validators == .none
      }
    }
  }

  /// Returns whether another declared URL leads to the same body, as a digest proves.
  private func isBroughtByOthers(_ url: String) -> Bool {
    let paths = Set(world.segments.flatMap(\.items).map(\.path))
    return paths.contains { path in
      guard world.url(path, origin) == url, world.isPinned(path),
        let goal = world.goal(path, in: number)?.page.path
      else { return false }
      return paths.contains { $0 != path && world.goal($0, in: number)?.page.path == goal }
    }
  }

  private func compare(_ plan: WorldReport, _ run: WorldReport) {
    var isShown = true
    for url in Set(plan.deeds.keys).union(run.deeds.keys).sorted() {
      let (one, other) = (plan.deeds[url] ?? [], run.deeds[url] ?? [])
      isShown = isShown && !isHidden(url)
      guard one != other else { continue }
      let open: Set<String> = ["fetch", "update", "revalidate", "keep"]
      let ends: Set<String> = ["fetch", "update", "keep", "fail", "stale"]
      let isOpen =
        isHidden(url) && one.allSatisfy { open.contains($0.word) || $0.word == "fail" }
        && other.allSatisfy { ends.contains($0.word) }
      // A body that one segment fetches is found by the other.
      let isBrought =
        one.map(\.segments) == other.map(\.segments)
        && zip(one, other).allSatisfy { $0 == $1 || $0.word == "fetch" && $1.word == "keep" }
        && other.contains { $0.word == "fetch" || $0.word == "update" }
      // A body of another URL is adopted for a declared digest, unless the item is stored before
      // that.
      let isAdopted =
        isBroughtByOthers(url) && one.map(\.segments) == other.map(\.segments)
        && (other.allSatisfy { $0.word == "keep" }
          || one.contains { $0.word == "keep" }
            && other.allSatisfy { ["keep", "update", "fetch"].contains($0.word) })
      let isRevalidated =
        one.contains { $0.word == "revalidate" } && other.allSatisfy { ends.contains($0.word) }
      // HEAD and GET reach a server with Retry-After in different orders.
      let isBusyHost =
        url.contains("/closing/") && (one + other).contains { $0.word == "defer" }
      expect(
        isOpen || isBrought || isAdopted || isRevalidated || isBusyHost,
        "plan \(one), run \(other) of \(url)\n\(plan.summary)\n\(run.summary)"
      )
    }
    guard isShown else { return }
    expect(plan.run.status == run.run.status, "plan ends \(plan.run.status), run \(run.summary)")
  }

  // MARK: Store

  /// Returns the digests that the cache lists, by URL.
  private func stored() throws -> [String: String] {
    var stored: [String: String] = [:]
    for item in try home.run("list", "--json").json().list("items") {
      guard let url = item.text("url"), let digest = item.text("digest") else { continue }
      stored[url] = String(digest.dropFirst("sha256:".count))
    }
    return stored
  }

  private func bytes(_ digest: String) -> [UInt8]? {
    FileTree.read("\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)")
  }

  private func checkStore(_ store: [String: String], after run: WorldReport) {
    for (name, _) in FileTree.objects(home.cache) {
      expect(bytes(name).map { Digest.hexadecimal($0) } == name, "\(name) has other bytes")
    }
    for item in world.segments.flatMap(\.items) {
      let url = world.url(item.path, origin)
      guard let digest = store[url] else { continue }
      expect(given[item.path]?.contains(digest) == true, "\(url) has bytes it never gave")
      expect(bytes(digest) != nil, "\(url) has lost its body")
      let deeds = run.deeds[url] ?? []
      let storing = Set(world.segments.filter { !$0.isUnstored }.map(\.name))
      let isNew = deeds.contains {
        ["fetch", "update"].contains($0.word) && !storing.isDisjoint(with: $0.segments)
      }
      guard isNew, item.alternate == nil, let body = world.body(item.path, in: number) else {
        continue
      }
      expect(digest == Digest.hexadecimal(body), "\(url) was transferred and is not what it is now")
    }
  }

  // MARK: Again

  private func checkEnds(_ first: WorldReport, _ second: WorldReport) {
    // Another segment's alternate may have delivered what no server gave to the first segment.
    let isBrought = first.deeds.values.contains { deeds in
      deeds.contains { $0.word == "fail" && $0.cause == "server_busy" }
        && deeds.contains { ["fetch", "update"].contains($0.word) }
    }
    expect(
      first.run.status == second.run.status || isBrought || isKeptForOthers(first)
        // With `on_gone: remove` the first run removes absent items, and the next finds none.
        || first.deeds.values.joined().contains { $0.word == "remove" },
      "ends \(first.summary), then without changes \(second.summary)"
    )
  }

  /// Returns whether a segment that honors `no-store` refused a body that another segment stores.
  ///
  /// Where the body's digest is declared, the stored body counts from then on.
  private func isKeptForOthers(_ report: WorldReport) -> Bool {
    world.segments.flatMap(\.items).contains { item in
      world.isPinned(item.path) && world.goal(item.path, in: number)?.page.isUnstorable == true
        && report.deeds[world.url(item.path, origin)]?.contains { $0.cause == "unsupported" }
          == true
    }
  }

  private func checkRepetition(
    _ second: WorldReport,
    _ log: [WorldOrigin.Exchange],
    _ store: [String: String]
  ) {
    for exchange in log where exchange.method == "GET" && exchange.status == 200 {
      guard let page = world.page(exchange.path), page.validators != .none else { continue }
      let isWanted = world.segments.contains { segment in
        segment.items.contains { item in
          let paths = [item.path, item.alternate].compactMap(\.self)
          guard paths.contains(where: { leads($0, to: page.path) }) else { return false }
          let url = world.url(item.path, origin)
          // Items that are not stored, or not as declared, may be transferred again.
          return segment.isUnstored || store[url] == nil || item.alternate != nil
            // An adopted body has the response of the other URL, whichever comes first.
            || item.path != page.path && world.isPinned(item.path) || isBroughtByOthers(url)
            || second.deeds[url]?.contains { $0.word == "fail" } != false
        }
      }
      expect(isWanted, "\(exchange) came again without need\n\(log)\n\(second.summary)")
    }
  }

  private func leads(_ path: String, to goal: String) -> Bool {
    path == goal || world.goal(path, in: number)?.page.path == goal
  }

  // MARK: Readers

  private struct Gotten {
    var status: Int32
    var body: [UInt8]
    var run: ProgramRun
  }

  private func get(_ url: String, _ options: String...) throws -> Gotten {
    FileTree.remove(home.path("out"))
    let run = try home.run(["get"] + options + ["-o", "out", url])
    return Gotten(status: run.status, body: FileTree.read(home.path("out")) ?? [], run: run)
  }

  private func checkReaders(_ report: WorldReport, _ store: [String: String]) throws {
    var random = SeededRandom(mixing: [Int(truncatingIfNeeded: world.seed), number])
    let paths = Set(world.segments.flatMap(\.items).map(\.path)).sorted()
    let chosen = paths.shuffled(using: &random).prefix(3)
    // Offline checks come first: the stored body is returned without any request.
    if let path = chosen.first { try checkOffline(path, store) }
    for path in chosen.dropLast() { try checkGet(path, report, store) }
    if let path = chosen.last { try checkServed(path, report, store) }
  }

  private func checkOffline(_ path: String, _ store: [String: String]) throws {
    let url = world.url(path, origin)
    _ = origin.drainLog()
    let gotten = try get(url, "--offline")
    expect(origin.drainLog().isEmpty, "get --offline \(url) asked")
    guard let digest = store[url] else {
      // A body from another URL is acceptable when its digest is declared.
      let isDeclared = given[path]?.contains(Digest.hexadecimal(gotten.body)) == true
      return expect(
        gotten.status == 4 || isDeclared,
        "get --offline \(url), not stored: \(gotten.run)"
      )
    }
    let isStrict = world.segments.contains { segment in
      (segment.requiresDigests || segment.isUnstored) && segment.items.contains { $0.path == path }
    }
    if isStrict, gotten.status == 4 { return }
    expect(
      gotten.status == 0 && Digest.hexadecimal(gotten.body) == digest,
      "get --offline \(url), stored: \(gotten.run)"
    )
  }

  /// Returns the bodies that are correct for a reader: those the run accepted, and the stored one.
  private func goodBodies(
    _ path: String,
    _ report: WorldReport,
    _ store: [String: String]
  ) -> Set<String> {
    let url = world.url(path, origin)
    let alternates = world.segments.flatMap(\.items).filter { $0.path == path }.compactMap(
      \.alternate
    )
    var bodies = Set(
      ([path] + alternates).compactMap { world.body($0, in: number) }.map { Digest.hexadecimal($0) }
    )
    let isGood = report.deeds[url]?.contains {
      ["keep", "fetch", "update", "stale"].contains($0.word)
    }
    if let digest = store[url], isGood == true || world.isProven(path, digest, in: number) {
      bodies.insert(digest)
    }
    return bodies
  }

  private func checkGet(_ path: String, _ report: WorldReport, _ store: [String: String]) throws {
    let url = world.url(path, origin)
    let deeds = report.deeds[url] ?? []
    let gotten = try get(url)
    let context =
      "get \(url) after \(deeds): \(gotten.run)\n\(origin.drainLog())\n\(report.summary)"
    if gotten.status == 0 {
      let digest = Digest.hexadecimal(gotten.body)
      expect(goodBodies(path, report, store).contains(digest), "wrong body: \(context)")
    } else {
      expect(gotten.body.isEmpty, "a body beside a failure: \(context)")
    }
    var wanted = Set(deeds.map { Self.status(after: $0) })
    // A segment that stores nothing makes a run ask, although a digest proves the body to a reader.
    if let digest = store[url], world.isProven(path, digest, in: number) { wanted.insert(0) }
    // When several segments refuse the body, any of their errors may be reported.
    if deeds.count(where: { $0.word == "fail" }) > 1 {
      wanted.formUnion([4, 5])
    }
    if world.isRefusedByBody(path, in: number) { wanted.formUnion([4, 5]) }
    // A redirect counts as a response.
    if world.isRedirected(path, in: number), wanted.contains(69) { wanted.insert(4) }
    // A recent absence is remembered; a run that stores nothing does not change that.
    if world.isRemembered(path, since: number) { wanted.insert(4) }
    expect(wanted.contains(gotten.status), "ends not with \(wanted.sorted()): \(context)")
  }

  /// Compares each item by `get`, into a cache that knows no run, with the run of another cache.
  func compareGets(to other: Night) throws {
    let (report, _) = try other.report("run")
    let store = try other.stored()
    let paths = Set(world.segments.flatMap(\.items).map(\.path)).sorted().filter {
      !world.mayPart($0, until: number)
    }
    for path in paths { try checkGet(path, report, store) }
    let own = try stored()
    for path in paths {
      let url = world.url(path, origin)
      let isMet = report.deeds[url]?.allSatisfy { Self.status(after: $0) == 0 } == true
      guard isMet else { continue }
      expect(
        own[url] == store[url],
        "the run stored \(store[url] ?? "nothing") of \(url), get \(own[url] ?? "nothing")\n\(report.summary)"
      )
    }
    let verified = try home.run("verify", "-q")
    expect(verified.status == 0, "verify: \(verified)")
  }

  /// Returns the exit status of `get` for a URL after this outcome in a run.
  private static func status(after deed: WorldReport.Deed) -> Int32 {
    switch (deed.word, deed.cause) {
    case ("fail", "digest_mismatch"): 5
    case ("fail", "server_busy"): 69
    case ("fail", "gone"), ("remove", _): 4
    case ("fail", _): 4
    case ("defer", _): 75
    default: 0
    }
  }

  private func checkServed(_ path: String, _ report: WorldReport, _ store: [String: String]) throws
  {
    let url = world.url(path, origin)
    let deeds = report.deeds[url] ?? []
    let serving = try Serving(home, "--pull", "-q")
    let target = String(url.dropFirst(world.wire == .tls ? 7 : 6))
    let response = try serving.client.get(target)
    let stopped = serving.stop()
    let context =
      "serve \(url) after \(deeds): \(response.status) \(response.body.prefix(300)) \(stopped)\n\(origin.drainLog())"
    expect(stopped.status == 143, context)
    let isUnknown = world.isUnknownToServe(path)
    let isGood = isUnknown || deeds.contains { Self.status(after: $0) == 0 }
    if response.status == 200 {
      let digest = Digest.hexadecimal(Array(response.body.utf8))
      // A fresh body stays fresh, even if a run found its server broken for another segment.
      let isFresh =
        digest == store[url]
        && (world.page(path)?.isFreshForAnHour == true
          || world.isProven(path, digest, in: number))
      expect(isFresh || goodBodies(path, report, store).contains(digest), "wrong body: \(context)")
      expect(isFresh || isGood, context)
    } else {
      let isBad =
        isUnknown || world.isRefusedByBody(path, in: number)
        || deeds.contains { Self.status(after: $0) != 0 }
      expect(isBad && response.status >= 400, context)
      if deeds.allSatisfy({ $0.cause == "gone" }) {
        expect([404, 410].contains(response.status), context)
      }
      if deeds.allSatisfy({ $0.word == "defer" }) { expect(response.status == 503, context) }
    }
  }
}
