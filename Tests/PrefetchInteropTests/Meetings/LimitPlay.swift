import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays a limit and a feature for two runs.
struct LimitPlay {
  private let meeting: LimitMeeting
  private let ground: LimitGround

  init(_ meeting: LimitMeeting) throws {
    self.meeting = meeting
    ground = try LimitGround(meeting)
  }

  private var home: Home { ground.home }

  /// Expected outcome of the large body, and with it of the run.
  private var outcome: (word: String, exit: Int32) {
    let outcome = meeting.isMet ? meeting.limit.outcome : (word: "added", exit: 0)
    // The failure of the declared source is reported, unless another source's deferral will pass.
    return meeting.neighbour == .alternates && outcome.exit == 3 ? ("gone", 3) : outcome
  }

  private var isMet: Bool { meeting.isMet }

  private func expect(
    _ isSo: Bool,
    _ comment: @autoclosure () -> String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    guard !isSo else { return }
    Issue.record("\(meeting.testDescription): \(comment())", sourceLocation: location)
  }

  func play() throws {
    if meeting.neighbour == .resume { try keepHalf() }
    ground.configure()
    ground.setLarge(isStalled: isMet && meeting.limit == .deadline)
    switch meeting.neighbour {
    case .get: try playGet()
    case .pull: try playPull()
    case .plan: try playPlan()
    case .declaredSize, .unknownSize, .resume, .alternates, .publish, .twoSegments, .stream:
      try playRun()
    }
    let verify = try home.run("verify")
    expect(verify.status == 0, "\(verify)")
  }

  /// Stores half of the large body by a run whose connection breaks.
  private func keepHalf() throws {
    ground.configure(hasLimit: false)
    ground.setLarge(isCut: true)
    let run = try home.run("run", "--json")
    expect(run.status == 3, "\(run)")
    _ = ground.drainLog()
  }

  // MARK: Runs

  private func playRun() throws {
    let run = try home.run("run", "--json", "--items", "all")
    try check(run)
    checkLog()
    try checkStore()
    // A repeated run gives the same outcome.
    guard meeting.limit != .deadline || !isMet else { return }
    let again = try home.run("run", "--json", "--items", "all")
    expect(again.status == outcome.exit, "again: \(again)")
    expect(try again.totals()["removed"] == 0, "something went: \(again)")
    expect(try again.totals()["fetched"] == 0, "something came: \(again)")
    try checkStore()
  }

  private func word(of url: String, in report: Node) -> String {
    let items = report.list("items").filter { $0.text("url") == url }
    expect(items.count == 1, "\(items.count) items for \(url)")
    let item = items.first
    return item?.text("error.code") ?? item?.text("deferred.rule") ?? item?.text("outcome")
      ?? "none"
  }

  private func check(_ run: ProgramRun) throws {
    expect(run.status == outcome.exit, "\(run)")
    let report = try run.json()
    expect(word(of: ground.large, in: report) == outcome.word, "\(run)")
    expect(word(of: ground.small, in: report) == smallWord, "\(run)")
    if meeting.neighbour == .twoSegments {
      let item = report.list("items").first { $0.text("url") == ground.large }
      expect(item?.list("segments").count == 2, "\(run)")
    }
  }

  private var smallWord: String {
    // A confirmed body needs no room.
    if meeting.neighbour == .resume { return "unchanged" }
    return isMet && meeting.limit == .minimumFree ? "free_disk" : "added"
  }

  /// Whether the small body is stored or may be fetched.
  private var hasSmall: Bool {
    smallWord != "free_disk"
  }

  private var hasLarge: Bool {
    outcome.word == "added"
  }

  /// Checks the order of requests, and that no impossible item is requested.
  private func checkLog() {
    let log = ground.drainLog()
    let isFirst = isMet && meeting.limit == .priority
    // Other requests may be sent while a film's playlist is read.
    let isRead = meeting.neighbour == .stream && isFirst
    if meeting.neighbour != .resume, hasSmall, hasLarge, !isRead {
      expect(log == (isFirst ? ["large", "small"] : ["small", "large"]), "asked \(log)")
    }
    if isMet, meeting.limit == .minimumFree { expect(log.isEmpty, "asked \(log)") }
    let isKnown = meeting.neighbour == .declaredSize
    if isMet, isKnown, [.cacheSize, .maximumFileSize].contains(meeting.limit) {
      expect(log == ["small"], "asked \(log)")
    }
    expect(log.count { $0 == "large" } <= 1, "asked \(log)")
  }

  private func checkStore() throws {
    let small = try home.run("path", ground.small)
    expect((small.status == 0) == hasSmall, "the small one: \(small)")
    let large = try home.run("path", ground.large)
    expect((large.status == 0) == hasLarge, "the large one: \(large)")
    let objects = FileTree.objects(home.cache)
    // A film has its own playlist and the published one.
    let bodies = (hasSmall ? 1 : 0) + (hasLarge ? meeting.neighbour == .stream ? 3 : 1 : 0)
    expect(objects.count == bodies, "\(objects.count) objects in place of \(bodies)")
    guard meeting.neighbour == .publish else { return }
    let names = FileTree.listing(home.work).keys.filter {
      $0.hasSuffix("/small") || $0.hasSuffix("/large")
    }
    let published = names.map { String($0.split(separator: "/").last ?? "") }.sorted()
    // After the deadline nothing is begun, not even publishing.
    let isLate = isMet && meeting.limit == .deadline
    let wanted = isLate ? [] : (hasLarge ? ["large"] : []) + (hasSmall ? ["small"] : [])
    expect(published == wanted, "\(names)")
  }

  // MARK: One item

  private func playGet() throws {
    let get = try home.run("get", ground.large)
    let exit: Int32 = outcome.exit == 3 ? 4 : outcome.exit
    expect(get.status == exit, "\(get.status) \(get.errors)")
    expect(Array(get.output.utf8) == (hasLarge ? LimitGround.large : []), "\(get.output.count)")
    let path = try home.run("path", ground.large)
    expect((path.status == 0) == hasLarge, "\(path)")
  }

  private func playPull() throws {
    let serving = try Serving(home, "--pull")
    let response = try serving.client.get(ground.largeTarget)
    let status = [0: 200, 3: 502, 75: 503][outcome.exit]
    let cacheStatus = response.headers["cache-status"] ?? ""
    expect(response.status == status, "\(response.status) \(cacheStatus)")
    if hasLarge {
      expect(Array(response.body.utf8) == LimitGround.large, "\(response.body.utf8.count)")
    } else {
      expect(cacheStatus.hasSuffix("detail=\(outcome.word)"), cacheStatus)
    }
    let path = try home.run("path", ground.large)
    expect((path.status == 0) == hasLarge, "\(path)")
    let run = serving.stop()
    let isWarned = !hasLarge && run.errors.hasPrefix("warning: clients get no new answer of `")
    expect(run.status == 143 && (run.errors.isEmpty || isWarned), "\(run)")
  }

  // MARK: What is said beforehand

  private func playPlan() throws {
    let before = FileTree.listing(home.folder.path)
    let plan = try home.run("plan")
    expect(FileTree.listing(home.folder.path) == before, "a plan wrote")
    let fields = plan.lines.map { $0.split(separator: "\t").map { String($0) } }
    let actions = fields.map { "\($0[0]) \($0[3] == ground.large ? "large" : "small")" }
    let isLate = isMet && meeting.limit == .deadline
    let exit = isLate ? 0 : outcome.exit
    let last =
      isLate || exit == 0 ? "fetch large" : exit == 75 ? "defer large" : "fail large"
    let first = hasSmall ? "fetch small" : "defer small"
    let isReversed = isMet && meeting.limit == .priority
    expect(actions == (isReversed ? [last, first] : [first, last]), "\(plan)")
    expect(plan.status == exit, "\(plan)")
    let run = try home.run("run", "--json", "--items", "all")
    try check(run)
    try checkStore()
  }
}
