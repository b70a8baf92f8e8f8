@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// The home, origin and configuration of a combination, with the checks after every run.
final class MeetingGround {
  let scenario: Scenario
  let neighbour: Neighbour
  let home: Home
  let origin: ScriptedOrigin
  private let name: Comment

  init(_ meeting: Meeting) throws {
    scenario = meeting.scenario
    neighbour = meeting.neighbour
    name = Comment(rawValue: meeting.testDescription)
    home = try Home(isInMemory: true)
    origin = try ScriptedOrigin(scenario.acts)
    configure(scenario.before)
  }

  var url: String {
    origin.server.address(scenario.path)
  }

  // MARK: What changes

  private func configure(_ declaration: Scenario.Declaration) {
    let digest = Digest.hexadecimal(Reply.bytes("one"))
    let item = declaration.item.replacing("DIGEST", with: digest)
    let keys = "urls: [{ url: \"\(url)\", \(item) }]"
    var segments = [["name: first", keys, declaration.segment]]
    switch neighbour {
    case .publish: segments[0].append("publish: { dir: tree, layout: url }")
    case .copies: segments[0].append("publish: { dir: tree, layout: url, link: copy }")
    case .twoSegments, .selected: segments.append(["name: second", keys, declaration.segment])
    case .headerConflict:
      segments.append(["name: second", keys, "headers: { Accept-Language: de }"])
    case .freshness, .explain, .plan, .repair, .collect, .get, .refetch, .revalidate, .offline,
      .getOffline:
      break
    }
    let lines = segments.map { segment in
      "  - " + segment.filter { !$0.isEmpty }.joined(separator: "\n    ")
    }
    home.configure(
      """
      name: \(declaration.name)
      segments:
      \(lines.joined(separator: "\n"))
      network: { retries: { items: 0, delay: 1ms, max_delay: 2ms } }
      cache: { min_free: 0 }
      """
    )
  }

  /// Applies the server's next act, the later declaration and the damage to the disk.
  func change() throws {
    origin.beginNextAct()
    configure(scenario.changed)
    let body = Reply.bytes(scenario.arrival.body ?? "")
    let object = objectPath(body)
    switch scenario.loss {
    case .none: break
    case .deleted: try #require(unsafe unlink(object) == 0, name)
    case .damaged: damage(scenario.arrival.body ?? "")
    case .truncated: FileTree.write(Array(body.prefix(body.count / 2)), to: object)
    }
  }

  /// Replaces a stored body by other bytes of the same length.
  func damage(_ body: String) {
    let bytes = Reply.bytes(body)
    FileTree.write(bytes.reversed(), to: objectPath(bytes))
  }

  func objectPath(_ body: [UInt8]) -> String {
    let digest = Digest.hexadecimal(body)
    return "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
  }

  // MARK: Runs

  /// Runs with the expected outcome and checks all invariants.
  func run(_ expected: ExpectedRun, _ arguments: String..., hasSecond: Bool = true) throws {
    _ = origin.drainLog()
    let run = try home.start(["run", "--json", "--items", "all"] + arguments).finish()
    checkLog(expected.requests)
    expect(run.status == expected.exit, "\(run)")
    let report = try run.json()
    let items = report.list("items").filter { $0.text("url") == url }
    expect(items.count == 1, "\(items.count) items in \(run.output)")
    for item in items {
      let said = item.text("error.code") ?? item.text("deferred.rule") ?? item.text("outcome")
      expect(expected.outcomes.contains(said ?? "none"), "\(said ?? "none") for \(expected.word)")
      let isKept = item.text("action") == "keep"
      // A stale copy is kept although a server was asked.
      let isRight = isKept == expected.isKept || expected.word == "stale"
      let reason = item.text("reason") ?? "no reason"
      expect(isRight, "\(item.text("action") ?? "no action") for \(expected.word): \(reason)")
      if neighbour == .twoSegments {
        expect(item.list("segments").map(\.text) == ["first", "second"], "\(run.output)")
      }
    }
    checkStale(expected, run)
    checkBody(expected, items)
    if hasSecond { try checkSecondPlan(report, arguments.filter { $0 == "--offline" }) }
  }

  /// Checks for a single line about served content that is stale.
  private func checkStale(_ expected: ExpectedRun, _ run: ProgramRun) {
    let warnings = run.errors.split(separator: "\n").filter { $0.contains("stale") }
    expect(warnings.count == (expected.word == "stale" ? 1 : 0), "stale: \(run.errors)")
  }

  /// Checks that nothing is left to do, and that deferred and failed items are unchanged.
  func checkSecondPlan(_ report: Node, _ arguments: [String] = []) throws {
    let plan = try home.start(["plan"] + arguments).finish()
    let lines = plan.lines.map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
    let changes = lines.filter { ["fetch", "update", "remove"].contains($0[0]) }
    expect(changes.isEmpty, "a second plan has changes: \(plan)")
    let troubles = lines.filter { ["defer", "fail"].contains($0[0]) }.map { "\($0[0]) \($0[3])" }
    let reported = report.list("items").compactMap { item -> String? in
      guard let action = item.text("action"), let url = item.text("url") else { return nil }
      if item.text("outcome") == "failed" { return "fail \(url)" }
      return ["defer", "fail"].contains(action) ? "\(action) \(url)" : nil
    }
    expect(troubles.sorted() == reported.sorted(), "\(reported) became \(troubles): \(plan)")
  }

  // MARK: Checks

  func expect(
    _ isSo: Bool,
    _ comment: @autoclosure () -> String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    guard !isSo else { return }
    Issue.record("\(name): \(comment())", sourceLocation: location)
  }

  func checkLog(_ requests: [String], _ location: Testing.SourceLocation = #_sourceLocation) {
    let log = origin.drainLog()
    let isSo =
      log.count == requests.count
      && zip(log, requests).allSatisfy { line, request in
        request.split(separator: " or ").contains { $0 == line }
      }
    expect(isSo, "the server saw \(log) in place of \(requests)", location)
  }

  /// Checks that the reported body is stored under its name.
  private func checkBody(_ expected: ExpectedRun, _ items: [Node]) {
    guard let body = expected.body.map(Reply.bytes) else { return }
    let digest = "sha256:\(Digest.hexadecimal(body))"
    let reported = items.map { $0.text("digest") }
    expect(reported.allSatisfy { $0 == digest }, "`\(expected.body ?? "")` is not what is stored")
    expect(FileTree.read(objectPath(body)) == body, "`\(expected.body ?? "")` is damaged")
  }

  /// The body that `path` names.
  func checkStored(
    _ expected: ExpectedRun,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    guard let body = expected.body else { return }
    let path = try home.run("path", url)
    let isSame = FileTree.read(String(path.lines.first ?? "")) == Reply.bytes(body)
    expect(path.status == 0 && isSame, "`\(body)` is not what is stored: \(path)", location)
  }

  func checkHeaders() throws {
    let stored = try home.run("list", "--json").json().list("items.0.headers")
    for (key, value) in scenario.headers {
      let values = stored.filter { $0.text("name")?.lowercased() == key.lowercased() }
        .compactMap { $0.text("value") }
      expect(values == (value.isEmpty ? [] : [value]), "\(key) is stored as \(values)")
    }
  }

  /// Checks that the tree's files are the items' bodies, and that every item has a file.
  func checkTree() throws {
    let items = try home.run("list", "--json").json().list("items")
    let files = FileTree.listing(home.path("tree")).filter { $0.value.mode & S_IFMT == S_IFREG }
    let paths = items.compactMap { $0.text("url") }.map { url in
      home.path("tree/\(url.dropFirst("http://".count))")
    }
    expect(files.keys.sorted() == paths.sorted(), "the tree holds \(files.keys.sorted())")
    for (item, path) in zip(items, paths) {
      let isSame = FileTree.read(path) == FileTree.read(item.text("path") ?? "")
      expect(isSame, "\(path) is not what is stored")
    }
  }
}
