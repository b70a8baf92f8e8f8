import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays a combination from the first fetch to the check of the store.
struct MeetingPlay {
  private let scenario: Scenario
  private let neighbour: Neighbour
  private let ground: MeetingGround

  init(_ meeting: Meeting) throws {
    scenario = meeting.scenario
    neighbour = meeting.neighbour
    ground = try MeetingGround(meeting)
  }

  private var home: Home {
    ground.home
  }

  func play() throws {
    guard neighbour != .headerConflict else { return try playHeaderConflict() }
    try ground.run(scenario.arrival, hasSecond: false)
    let isPublished = neighbour == .publish || neighbour == .copies
    if isPublished, !scenario.arrival.hasFailed { try ground.checkTree() }
    try ground.change()
    switch neighbour {
    case .freshness, .twoSegments: try playOut()
    case .publish, .copies: try playTree()
    case .explain: try playExplained()
    case .plan: try playPlanned()
    case .repair: try playRepair()
    case .collect: try playCollection()
    case .get: try playGet()
    case .refetch: try playRefetch()
    case .offline: try playOffline()
    case .getOffline: try playGetOffline()
    case .selected:
      try ground.run(scenario.then, "first")
      try ground.run(scenario.last, "first")
    case .revalidate:
      try ground.run(scenario.revalidated ?? scenario.then, "--revalidate")
      try ground.run(scenario.last)
    case .headerConflict: break
    }
    if neighbour != .repair { try ground.checkStored(scenario.last) }
    let verify = try home.run("verify")
    ground.expect(verify.status == 0, "\(verify)")
  }

  private func playOut() throws {
    try ground.run(scenario.then)
    try ground.checkHeaders()
    try ground.run(scenario.last)
  }

  // MARK: Trees

  private func playTree() throws {
    for expected in [scenario.then, scenario.last] {
      try ground.run(expected)
      try ground.checkTree()
    }
    let publish = try home.run("publish", "--json")
    ground.expect(publish.status == 0, "\(publish)")
    let segment = try publish.json().at("segments.0")
    ground.expect(segment?.number("made") == 0 && segment?.number("removed") == 0, "\(publish)")
    try ground.checkTree()
  }

  // MARK: What is said beforehand

  private func playExplained() throws {
    for expected in [scenario.then, scenario.last] {
      try checkExplanation(expected)
      try ground.run(expected)
    }
  }

  private func checkExplanation(_ expected: ExpectedRun) throws {
    let explain = try home.run("explain", ground.url, "--json")
    ground.expect(explain.status == 0, "\(explain)")
    let document = try explain.json()
    let decision = document.text("decision") ?? "none"
    let state = document.text("freshness.state")
    let reason = document.text("reason") ?? ""
    let saying = "explain says \(decision), \(state ?? "null"), \(reason); then \(expected.word)"
    ground.expect(!reason.isEmpty, saying)
    if expected.isKept {
      let isPinned = reason.contains("digest")
      ground.expect(decision == "keep", saying)
      ground.expect(isPinned || state == "fresh" || state == "immutable", saying)
    } else if expected.isFetched {
      ground.expect(decision == "fetch", saying)
    } else if expected.requests.isEmpty {
      ground.expect(decision == "defer", saying)
    } else {
      let isConditional = expected.requests.contains {
        $0.contains(" if ") || $0.contains(" since ")
      }
      let decisions = isConditional ? ["revalidate"] : ["revalidate", "fetch", "update"]
      ground.expect(decisions.contains(decision), saying)
      ground.expect(!["fresh", "immutable"].contains(reason), saying)
    }
  }

  private func playPlanned() throws {
    for expected in [scenario.then, scenario.last] {
      try checkPlan(expected)
      try ground.run(expected)
    }
  }

  private func checkPlan(_ expected: ExpectedRun) throws {
    _ = ground.origin.drainLog()
    let before = FileTree.listing(home.folder.path)
    let plan = try home.run("plan", "--items", "all")
    ground.expect(FileTree.listing(home.folder.path) == before, "a plan wrote")
    let heads = expected.requests.map { $0.replacing("GET ", with: "HEAD ") }
    ground.checkLog(expected.probes ?? heads)
    let line = plan.lines.first?.split(separator: "\t").map { String($0) } ?? []
    ground.expect(plan.lines.count == 1 && line.count == 5, "\(plan)")
    ground.expect(expected.plans.contains(line.first ?? ""), "then \(expected.word): \(plan)")
    ground.expect(line.count > 3 && line[3] == ground.url, "\(plan)")
    ground.expect(plan.status == expected.exit, "then \(expected.exit): \(plan)")
  }

  // MARK: The store

  private func playRepair() throws {
    try ground.run(scenario.then)
    let body = scenario.then.body ?? ""
    ground.damage(body)
    let verify = try home.run("verify", "--json")
    ground.expect(verify.status == 74, "\(verify)")
    let bad = try verify.json().list("bad")
    ground.expect(bad.map { $0.text("url") } == [ground.url], "\(verify)")
    let repair = try home.run("verify", "--repair")
    ground.expect(repair.status == 74, "\(repair)")
    let path = try home.run("path", ground.url)
    ground.expect(path.status == 4, "\(path)")
    try ground.run(scenario.again)
    // The ttl kept an outdated body, which is now replaced.
    var last = scenario.last
    last.body = scenario.again.body
    try ground.run(last)
  }

  private func playCollection() throws {
    try collect([])
    try ground.run(scenario.then)
    if let after = scenario.after, after.name != scenario.before.name {
      try collect(["--forget", scenario.before.name])
    }
    try collect([])
    let listed = try home.run("list", "--json").json().list("items")
    let digests = listed.compactMap { $0.text("digest")?.dropFirst("sha256:".count) }
    let objects = FileTree.objects(home.cache).keys.sorted()
    ground.expect(objects == digests.map { String($0) }.sorted(), "\(objects) for \(digests)")
    try ground.run(scenario.last)
  }

  private func collect(_ arguments: [String]) throws {
    _ = ground.origin.drainLog()
    let collect = try home.start(["gc", "--json"] + arguments).finish()
    ground.expect(collect.status == 0, "\(collect)")
    ground.checkLog([])
  }

  // MARK: One item

  private func playGet() throws {
    try get(scenario.then)
    var last = scenario.last
    // `get` remembers for a while that a server no longer has an item; a run asks again.
    if scenario.then.word == "gone" { last.requests = [] }
    try get(last)
    try ground.run(scenario.last)
  }

  private func get(_ expected: ExpectedRun) throws {
    _ = ground.origin.drainLog()
    let get = try home.run("get", ground.url)
    ground.checkLog(expected.requests)
    let isGone = expected.word == "gone"
    ground.expect(get.status == (isGone ? 4 : expected.exit), "\(get)")
    let body = expected.hasFailed ? [] : Reply.bytes(expected.body ?? "")
    ground.expect(get.output == String(decoding: body, as: UTF8.self), "\(get.output.prefix(80))")
  }

  private func playRefetch() throws {
    var expected = scenario.again
    expected.requests = expected.requests.map { "\($0) anew" }
    try ground.run(expected, "--refetch")
    try ground.run(scenario.last)
  }

  // MARK: No server is asked

  private func playOffline() throws {
    try ground.run(offline, "--offline")
    try playOut()
  }

  /// Expected offline outcome: the stored body, called stale when a run would revalidate.
  private var offline: ExpectedRun {
    if let offline = scenario.offline { return offline }
    guard !scenario.then.isKept else { return scenario.then }
    return ExpectedRun("stale 0 \(scenario.arrival.body ?? "-")")
  }

  private func playGetOffline() throws {
    _ = ground.origin.drainLog()
    let run = try home.run("get", "--offline", ground.url)
    ground.checkLog([])
    if scenario.loss != .none {
      ground.expect(run.status == 74, "\(run)")
      ground.expect(run.output.isEmpty, "\(run)")
    } else if offline.hasFailed {
      ground.expect(run.status == 4, "\(run)")
    } else {
      let body = Reply.bytes(offline.body ?? "")
      ground.expect(run.status == 0 && Array(run.output.utf8) == body, "\(run)")
    }
    guard scenario.loss == .damaged else { return try playOut() }
    try get(scenario.then)
    try ground.run(scenario.last)
  }

  // MARK: Header conflicts

  /// Checks that the second segment's item fails instead of getting the first one's body.
  private func playHeaderConflict() throws {
    for expected in [scenario.arrival, scenario.last] {
      _ = ground.origin.drainLog()
      let run = try home.run("run", "--json", "--items", "all")
      ground.expect(run.status == 3, "\(run)")
      let log = ground.origin.drainLog()
      ground.expect(!log.contains { $0.contains(" de") }, "\(log)")
      ground.expect(expected.word == "added" ? log == expected.requests : log.count <= 1, "\(log)")
      let report = try run.json()
      let failed = report.list("items").filter { $0.text("outcome") == "failed" }
      ground.expect(failed.map { $0.text("error.code") } == ["unsupported"], "\(run)")
      ground.expect(failed.first?.list("segments").map(\.text) == ["second"], "\(run)")
      ground.expect(report.text("segments.0.state") == "current", "\(run)")
      try ground.checkStored(scenario.arrival)
      try ground.checkSecondPlan(report)
    }
  }
}
