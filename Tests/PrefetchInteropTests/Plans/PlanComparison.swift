import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Compares a plan with the run that followed.
struct Comparison {
  private let seed: UInt64
  private let world: PlannedWorld
  private let lines: ProgramRun
  private let plan: ProgramRun
  private let run: ProgramRun
  private let planned: Node
  private let happened: Node
  /// URLs of which a HEAD does not show everything.
  private let hidden: Set<String>
  private let configuration: String

  init(
    seed: UInt64,
    world: PlannedWorld,
    servers: PlannedServers,
    lines: ProgramRun,
    plan: ProgramRun,
    run: ProgramRun
  ) throws {
    self.seed = seed
    self.world = world
    self.lines = lines
    self.plan = plan
    self.run = run
    planned = try plan.json()
    happened = try run.json()
    let items = world.segments.flatMap(\.items)
    hidden = Set(items.filter { !$0.isShown }.map { servers.address(of: $0) })
    configuration = world.configuration(in: world.begins ? 1 : 0, servers)
  }

  private func expect(_ isSo: Bool, _ comment: String, _ location: Testing.SourceLocation) {
    guard !isSo else { return }
    Issue.record(
      "seed \(seed): \(comment)\n\(configuration)\n\(lines)\nthe run: \(world.arguments) \(run)",
      sourceLocation: location
    )
  }

  func check(_ location: Testing.SourceLocation = #_sourceLocation) {
    checkLines(location)
    checkItems(location)
    checkSegments(location)
    checkExits(location)
  }

  /// Features that occurred in the comparison, for the statistics.
  var met: [String] {
    var words = fields.map { $0[0] } + ["exit \(lines.status)"]
    words += planned.list("items").compactMap { $0.text("error.code") ?? $0.text("deferred.rule") }
    if planned.list("items").contains(where: { $0.text("action") == "keep" }) {
      words.append("keep")
    }
    if planned.list("items").contains(where: { $0.text("reason")?.hasPrefix("evicted") == true }) {
      words.append("evicted")
    }
    return words
  }

  private var fields: [[String]] {
    lines.lines.map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  // MARK: The lines

  /// Checks that the text lines equal the document's items and unavailable manifests.
  private func checkLines(_ location: Testing.SourceLocation) {
    let items = planned.list("items").filter { $0.text("action") != "keep" }
    var wanted = items.map { item in
      let names = item.list("segments").compactMap(\.text).sorted().joined(separator: ",")
      let held = names.isEmpty ? "-" : names
      return "\(item.text("action") ?? "none") \(held) \(item.text("url") ?? "")"
    }
    for segment in planned.list("segments") {
      let name = segment.text("name") ?? ""
      let url = segment.text("manifest.url") ?? ""
      if segment.text("manifest.error.code") != nil {
        wanted.append("fail \(name) \(url)")
      } else if segment.text("manifest.status") == "skipped",
        !items.contains(where: { item in
          item.text("action") == "defer" && item.list("segments").contains { $0.text == name }
        })
      {
        wanted.append("defer \(name) \(url)")
      }
    }
    let reported = fields.map { field in
      let names = field[1].split(separator: ",").sorted().joined(separator: ",")
      return "\(field[0]) \(names) \(field[3])"
    }
    expect(reported.sorted() == wanted.sorted(), "\(reported) in place of \(wanted)", location)
    expect(lines.status == plan.status, "the plan ends \(plan.status) as JSON", location)
  }

  // MARK: Items

  private func deeds(of report: Node) -> [String: [String]] {
    var deeds: [String: [String]] = [:]
    for item in report.list("items") {
      // Only the plan lists retained items.
      if item.text("reason")?.hasPrefix("removed from the list") == true { continue }
      let names = item.list("segments").compactMap(\.text)
      let deed: String
      switch item.text("outcome") {
      case "failed", "redirected": deed = "fail \(item.text("error.code") ?? "none")"
      case "deferred": deed = "defer \(item.text("deferred.rule") ?? "none")"
      default:
        let action = item.text("action") ?? "none"
        let isSame = action == "revalidate" && item.text("outcome") != nil
        deed = isSame ? "keep" : action
      }
      // A run reports a removal only for the last segments that release the item.
      let reported = deed == "remove" ? "remove" : "\(deed) \(names.sorted())"
      deeds[item.text("url") ?? "", default: []].append(reported)
    }
    return deeds.mapValues { deeds in
      // An item that is removed was kept until then.
      let isLeaving = deeds.contains { $0.hasPrefix("remove") }
      return deeds.filter { !isLeaving || !$0.hasPrefix("keep") }.sorted()
    }
  }

  private func checkItems(_ location: Testing.SourceLocation) {
    let predicted = deeds(of: planned)
    let done = deeds(of: happened)
    for url in Set(predicted.keys).union(done.keys).sorted() where !hidden.contains(url) {
      let (one, other) = (predicted[url] ?? [], done[url] ?? [])
      if isUncertain, (one + other).allSatisfy(Self.mayDependOnRoom) { continue }
      // The list that arrives first decides which of two segments' rules is reported.
      let bothFail = (one + other).allSatisfy { $0.hasPrefix("fail") && $0.contains(",") }
      let isSame =
        one == other || !one.isEmpty && !other.isEmpty && bothFail || isRace(one + other)
      expect(isSame, "the plan says \(one), the run \(other) of \(url)", location)
    }
    for url in hidden {
      for deed in predicted[url] ?? [] {
        if isUncertain, deed.hasPrefix("fail cache_full") { continue }
        let isOpen = ["fetch", "update", "revalidate"].contains { deed.hasPrefix($0) }
        let isSame = done[url]?.contains(deed) == true
        // A transfer may find another failure than the plan's HEAD.
        let hasFailed = deed.hasPrefix("fail") && done[url]?.first?.hasPrefix("fail") == true
        let comment = "\(deed) of \(url) became \(done[url] ?? [])"
        expect(isOpen || isSame || hasFailed, comment, location)
      }
    }
  }

  /// Returns whether parallel requests explain the difference.
  ///
  /// An item may be requested before another item of undeclared size has used up the room.
  private func isRace(_ deeds: [String]) -> Bool {
    guard world.want == .room, world.jobs > 1, deeds.count == 2 else { return false }
    return deeds.allSatisfy { $0.hasPrefix("fail") }
      && deeds.contains { $0.hasPrefix("fail cache_full") }
  }

  /// Whether bodies of unknown size decide which other items have room.
  private var isUncertain: Bool {
    world.want == .room && !isShown
  }

  private static func mayDependOnRoom(_ deed: String) -> Bool {
    ["fetch", "update", "keep", "remove", "fail cache_full"].contains { deed.hasPrefix($0) }
  }

  // MARK: Segments and exits

  private var isShown: Bool {
    !planned.list("items").contains { hidden.contains($0.text("url") ?? "") }
  }

  private func checkSegments(_ location: Testing.SourceLocation) {
    for (one, other) in zip(planned.list("segments"), happened.list("segments")) {
      for key in ["name", "manifest.status", "manifest.error.code", "priority"] {
        let (before, after) = (one.text(key), other.text(key))
        if isUncertain, [before, after].contains("cache_full") { continue }
        expect(before == after, "\(key) is \(before ?? "-"), then \(after ?? "-")", location)
      }
      guard isShown else { continue }
      for key in ["state", "deferred.rule"] {
        let (before, after) = (one.text(key), other.text(key))
        let name = one.text("name") ?? ""
        expect(before == after, "\(name): \(key) \(before ?? "-"), \(after ?? "-")", location)
      }
    }
  }

  /// Exit statuses by severity; 0 also stands for planned changes.
  private static let order: [Int32] = [5, 74, 77, 69, 4, 3, 75, 0]

  private func checkExits(_ location: Testing.SourceLocation) {
    let isSame = lines.status == run.status
    let ranks = [run, lines].map { run in
      Self.order.firstIndex(of: run.status == 2 ? 0 : run.status) ?? -1
    }
    let isNoMilder = ranks.allSatisfy { $0 >= 0 } && ranks[0] <= ranks[1]
    expect(isSame || !isShown && isNoMilder, "ends \(lines.status), then \(run.status)", location)
    let names = [planned, happened].map { $0.text("exit.name") }
    expect(!isShown || names[0] == names[1], "is called \(names)", location)
  }

  // MARK: Order

  /// Whether all manifests are available, so that plan and run send the same requests.
  var areManifestsHere: Bool {
    world.segments.allSatisfy { $0.source.isInline || $0.source == .manifest }
  }

  func checkOrder(
    _ probed: [String],
    _ requested: [String],
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    // A run does not even request items without room.
    let isSame = world.want == .nothing ? Set(probed) == Set(requested) : true
    expect(isSame, "asks \(probed), then \(requested)", location)
    // A shared item is listed in its first segment and requested with its best rank.
    let isRequested = { (field: [String]) in
      !["remove", "defer"].contains(field[0]) && !field[1].contains(",")
    }
    let listed = fields.filter(isRequested).map { field in
      String(field[3].dropFirst("http://".count).drop { $0 != "/" })
    }
    let (sorted, order) = (listed.filter(requested.contains), requested.filter(listed.contains))
    expect(order == sorted, "lists \(sorted), asks \(order)", location)
  }
}
