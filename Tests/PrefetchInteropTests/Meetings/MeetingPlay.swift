import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays a combination from the first fetch to the check of the store.
struct MeetingPlay {
  private let happening: Happening
  private let neighbour: Neighbour
  private let ground: MeetingGround

  init(_ meeting: Meeting) throws {
    happening = meeting.happening
    neighbour = meeting.neighbour
    ground = try MeetingGround(meeting)
  }

  private var home: Home {
    ground.home
  }

  func play() throws {
    guard neighbour != .rivals else { return try playRivals() }
    try ground.run(happening.arrival, hasSecond: false)
    let isPublished = neighbour == .publish || neighbour == .copies
    if isPublished, !happening.arrival.hasFailed { try ground.checkTree() }
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
      try ground.run(happening.then, "first")
      try ground.run(happening.last, "first")
    case .revalidate:
      try ground.run(happening.revalidated ?? happening.then, "--revalidate")
      try ground.run(happening.last)
    case .rivals: break
    }
    if neighbour != .repair { try ground.checkStored(happening.last) }
    let verify = try home.run("verify")
    ground.expect(verify.status == 0, "\(verify)")
  }

  private func playOut() throws {
    try ground.run(happening.then)
    try ground.checkHeaders()
    try ground.run(happening.last)
  }

  // MARK: Trees

  private func playTree() throws {
    for visit in [happening.then, happening.last] {
      try ground.run(visit)
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
    for visit in [happening.then, happening.last] {
      try checkExplanation(visit)
      try ground.run(visit)
    }
  }

  private func checkExplanation(_ visit: Visit) throws {
    let explain = try home.run("explain", ground.url, "--json")
    ground.expect(explain.status == 0, "\(explain)")
    let document = try explain.json()
    let decision = document.text("decision") ?? "none"
    let state = document.text("freshness.state")
    let reason = document.text("reason") ?? ""
    let saying = "explain says \(decision), \(state ?? "null"), \(reason); then \(visit.word)"
    ground.expect(!reason.isEmpty, saying)
    if visit.isKept {
      let isPinned = reason.contains("digest")
      ground.expect(decision == "keep", saying)
      ground.expect(isPinned || state == "fresh" || state == "immutable", saying)
    } else if visit.isFetched {
      ground.expect(decision == "fetch", saying)
    } else if visit.asks.isEmpty {
      ground.expect(decision == "defer", saying)
    } else {
      let isConditional = visit.asks.contains { $0.contains(" if ") || $0.contains(" since ") }
      let decisions = isConditional ? ["revalidate"] : ["revalidate", "fetch", "update"]
      ground.expect(decisions.contains(decision), saying)
      ground.expect(!["fresh", "immutable"].contains(reason), saying)
    }
  }

  private func playPlanned() throws {
    for visit in [happening.then, happening.last] {
      try checkPlan(visit)
      try ground.run(visit)
    }
  }

  private func checkPlan(_ visit: Visit) throws {
    _ = ground.origin.takeLog()
    let before = FileTree.listing(home.folder.path)
    let plan = try home.run("plan", "--items", "all")
    ground.expect(FileTree.listing(home.folder.path) == before, "a plan wrote")
    let heads = visit.asks.map { $0.replacing("GET ", with: "HEAD ") }
    ground.checkLog(visit.probes ?? heads)
    let line = plan.lines.first?.split(separator: "\t").map { String($0) } ?? []
    ground.expect(plan.lines.count == 1 && line.count == 5, "\(plan)")
    ground.expect(visit.plans.contains(line.first ?? ""), "then \(visit.word): \(plan)")
    ground.expect(line.count > 3 && line[3] == ground.url, "\(plan)")
    ground.expect(plan.status == visit.exit, "then \(visit.exit): \(plan)")
  }

  // MARK: The store

  private func playRepair() throws {
    try ground.run(happening.then)
    let body = happening.then.body ?? ""
    ground.damage(body)
    let verify = try home.run("verify", "--json")
    ground.expect(verify.status == 74, "\(verify)")
    let bad = try verify.json().list("bad")
    ground.expect(bad.map { $0.text("url") } == [ground.url], "\(verify)")
    let repair = try home.run("verify", "--repair")
    ground.expect(repair.status == 74, "\(repair)")
    let path = try home.run("path", ground.url)
    ground.expect(path.status == 4, "\(path)")
    try ground.run(happening.again)
    // The ttl kept an outdated body, which is now replaced.
    var last = happening.last
    last.body = happening.again.body
    try ground.run(last)
  }

  private func playCollection() throws {
    try collect([])
    try ground.run(happening.then)
    if let after = happening.after, after.name != happening.before.name {
      try collect(["--forget", happening.before.name])
    }
    try collect([])
    let listed = try home.run("list", "--json").json().list("items")
    let digests = listed.compactMap { $0.text("digest")?.dropFirst("sha256:".count) }
    let objects = FileTree.objects(home.cache).keys.sorted()
    ground.expect(objects == digests.map { String($0) }.sorted(), "\(objects) for \(digests)")
    try ground.run(happening.last)
  }

  private func collect(_ arguments: [String]) throws {
    _ = ground.origin.takeLog()
    let collect = try home.start(["gc", "--json"] + arguments).finish()
    ground.expect(collect.status == 0, "\(collect)")
    ground.checkLog([])
  }

  // MARK: One item

  private func playGet() throws {
    try get(happening.then)
    var last = happening.last
    // `get` remembers for a while that a server no longer has an item; a run asks again.
    if happening.then.word == "gone" { last.asks = [] }
    try get(last)
    try ground.run(happening.last)
  }

  private func get(_ visit: Visit) throws {
    _ = ground.origin.takeLog()
    let get = try home.run("get", ground.url)
    ground.checkLog(visit.asks)
    let isGone = visit.word == "gone"
    ground.expect(get.status == (isGone ? 4 : visit.exit), "\(get)")
    let body = visit.hasFailed ? [] : Reply.bytes(visit.body ?? "")
    ground.expect(get.output == String(decoding: body, as: UTF8.self), "\(get.output.prefix(80))")
  }

  private func playRefetch() throws {
    var visit = happening.again
    visit.asks = visit.asks.map { "\($0) anew" }
    try ground.run(visit, "--refetch")
    try ground.run(happening.last)
  }

  // MARK: No server is asked

  private func playOffline() throws {
    try ground.run(offline, "--offline")
    try playOut()
  }

  /// Expected offline outcome: the stored body, called stale when a run would revalidate.
  private var offline: Visit {
    if let offline = happening.offline { return offline }
    guard !happening.then.isKept else { return happening.then }
    return Visit("stale 0 \(happening.arrival.body ?? "-")")
  }

  private func playGetOffline() throws {
    _ = ground.origin.takeLog()
    let run = try home.run("get", "--offline", ground.url)
    ground.checkLog([])
    if happening.loss != .none {
      ground.expect(run.status == 74, "\(run)")
      ground.expect(run.output.isEmpty, "\(run)")
    } else if offline.hasFailed {
      ground.expect(run.status == 4, "\(run)")
    } else {
      let body = Reply.bytes(offline.body ?? "")
      ground.expect(run.status == 0 && Array(run.output.utf8) == body, "\(run)")
    }
    guard happening.loss == .damaged else { return try playOut() }
    try get(happening.then)
    try ground.run(happening.last)
  }

  // MARK: Rivals

  /// Checks that the second segment's item fails instead of getting the first one's body.
  private func playRivals() throws {
    for visit in [happening.arrival, happening.last] {
      _ = ground.origin.takeLog()
      let run = try home.run("run", "--json", "--items", "all")
      ground.expect(run.status == 3, "\(run)")
      let log = ground.origin.takeLog()
      ground.expect(!log.contains { $0.contains(" de") }, "\(log)")
      ground.expect(visit.word == "added" ? log == visit.asks : log.count <= 1, "\(log)")
      let report = try run.json()
      let failed = report.list("items").filter { $0.text("outcome") == "failed" }
      ground.expect(failed.map { $0.text("error.code") } == ["unsupported"], "\(run)")
      ground.expect(failed.first?.list("segments").map(\.text) == ["second"], "\(run)")
      ground.expect(report.text("segments.0.state") == "current", "\(run)")
      try ground.checkStored(happening.arrival)
      try ground.checkSecondPlan(report)
    }
  }
}
