package struct ReportBuilder: Sendable {
  private var report: Report
  private let startedUptime: Duration
  private let listsKept: Bool
  private let keepsItems: Bool
  private let retries: RetryPolicy
  private let sharesItems: Bool
  private var positions: [String: Int] = [:]
  private var itemPositions: [String: Int] = [:]
  private var unexpectedKeys: Set<UnexpectedKey> = []
  private var hasReportedShortage = false

  package init(
    mode: RunRequest.Mode,
    identity: String,
    segments: [SegmentDeclaration],
    listsKept: Bool = false,
    keepsItems: Bool = true,
    retries: RetryPolicy = RetryPolicy(),
    at now: Moment
  ) {
    self.retries = retries
    self.listsKept = listsKept
    self.keepsItems = keepsItems
    sharesItems = segments.count > 1
    report = Report(mode: mode, identity: identity, started: now.wall)
    startedUptime = now.uptime
    for segment in segments {
      positions[segment.name] = report.segments.count
      let manifest = ManifestResult(url: nil, status: .skipped)
      report.segments.append(Report.Segment(name: segment.name, state: .failed, manifest: manifest))
    }
  }

  package mutating func fold(_ fact: RunFact) {
    switch fact {
    case .itemsDiscovered(_, let count):
      // A growing array would hold most items twice for a moment; and each reservation copies.
      guard listsKept, count > report.items.count else { return }
      report.items.reserveCapacity(report.items.count + count)
    case .itemsStarted, .bytesReceived, .requestTraced, .requestWaits:
      break
    case .conditionsRead(let conditions):
      report.network = conditions
    case .qualityChanged(let quality):
      report.quality = quality
    case .itemsKept(let name, let count, let bytes, let freshCount, let freshBytes):
      report.totals.countKept(freshCount, freshBytes)
      guard let position = positions[name] else { return }
      report.segments[position].totals.countKept(count, bytes)
    case .itemsRetained(let name, let count):
      report.totals.retained += Int64(count)
      guard let position = positions[name] else { return }
      report.segments[position].totals.retained += Int64(count)
    case .itemRetained(let item):
      collect(item)
    case .itemsConfirmed(let name, let count, let bytes):
      report.totals.countConfirmed(count, bytes: bytes)
      guard let position = positions[name] else { return }
      report.segments[position].totals.countConfirmed(count, bytes: bytes)
    case .itemsArrived(let name, let arrivals):
      let bytes = arrivals.reduce(0) { $0 + $1.body.size }
      report.totals.countArrived(arrivals.count, bytes: bytes)
      guard let position = positions[name] else { return }
      report.segments[position].totals.countArrived(arrivals.count, bytes: bytes)
      report.segments[position].recordArrivals(arrivals)
    case .requestsCounted(let name, let count, let status, let wireBytes):
      report.totals.count(count, status: status, wireBytes: wireBytes)
      if !isBusy(status) { report.hasResponse = true }
      guard let position = positions[name] else { return }
      report.segments[position].totals.count(count, status: status, wireBytes: wireBytes)
    case .requestFinished(let request):
      report.totals.count(request)
      if let lesson = request.figures.lesson, let url = request.url {
        report.lessons[lesson, default: []].insert(url.authority)
      }
      if let key = request.figures.unexpectedKey, let url = request.url {
        reportKey(UnexpectedKey(host: url.host, key: key))
      }
      for position in request.segments.compactMap({ positions[$0] }) {
        report.segments[position].totals.count(request)
      }
      if let status = request.status, !isBusy(status) { report.hasResponse = true }
    case .manifestSettled(let name, let manifest):
      guard let position = positions[name] else { return }
      if report.segments[position].manifest.warnings.isEmpty {
        report.diagnostics += manifest.warnings
      }
      report.segments[position].manifest = manifest
    case .itemSettled(let item):
      collect(item)
      report.totals.count(item)
      countStale(item)
      countEmpty(item)
      countCards(item)
      reportShortage(item)
      for name in item.segments {
        guard let position = positions[name] else { continue }
        report.segments[position].totals.count(item)
        report.segments[position].recordChange(of: item)
      }
    case .itemEvicted(let item, let was):
      report.totals.recount(item, was: was)
      for position in item.segments.compactMap({ positions[$0] }) {
        report.segments[position].totals.recount(item, was: was)
        report.segments[position].retract(item.url)
      }
      replace(item)
    case .itemShared(let item, let name):
      if let position = itemPositions[item.url] {
        if !report.items[position].segments.contains(name) {
          report.items[position].segments.append(name)
        }
        report.items[position].isRequired = report.items[position].isRequired || item.isRequired
      }
      if let position = positions[name] {
        report.segments[position].totals.count(item)
        report.segments[position].recordChange(of: item)
      }
    case .segmentSettled(let segment):
      guard let position = positions[segment.name] else { return }
      report.segments[position].state = segment.state
      report.segments[position].priority = segment.priority
      report.segments[position].isRequired = segment.isRequired
      report.segments[position].deferral = segment.deferral
    case .treePublished(let name, let tree):
      guard let position = positions[name] else { return }
      report.segments[position].tree = tree
      report.diagnostics += tree.diagnostics(of: name)
      if tree.isHeld {
        report.diagnostics.append(TreeOutcome.hold(of: name, tree.folder, tree.generation))
      }
    case .registration, .listRead:
      break
    case .warned(let warning):
      report.diagnostics.append(warning)
    case .interrupted(let signal):
      report.signal = signal
    case .storeFailed(let failure):
      report.recordStoreFailure(failure)
    }
  }

  private mutating func reportKey(_ unexpected: UnexpectedKey) {
    guard unexpectedKeys.insert(unexpected).inserted else { return }
    report.diagnostics.append(unexpected.diagnostic)
  }

  private mutating func reportShortage(_ item: ItemResult) {
    guard item.deferral?.rule == .freeDisk, !hasReportedShortage else { return }
    hasReportedShortage = true
    report.diagnostics.append(
      Diagnostic(
        "run.free-disk",
        "items are deferred by \(item.reason)",
        severity: .warning,
        hint: "make room, or set `cache.min_free` lower"
      )
    )
  }

  private mutating func countEmpty(_ item: ItemResult) {
    guard item.outcome == .empty else { return }
    report.emptyCount += 1
    report.firstEmpty = report.firstEmpty ?? item.url
  }

  private mutating func countCards(_ item: ItemResult) {
    guard item.htmlCards > 0 else { return }
    report.htmlCardCount += item.htmlCards
    report.firstHTMLCard = report.firstHTMLCard ?? item.url
  }

  private mutating func countStale(_ item: ItemResult) {
    guard item.outcome == .stale else { return }
    report.staleCount += 1
    report.oldestStale = [report.oldestStale, item.confirmedAt].compactMap(\.self).min()
  }

  private mutating func collect(_ item: ItemResult) {
    guard keepsItems ? listsKept || item.outcome != .unchanged : affectsExit(item) else { return }
    if sharesItems { itemPositions[item.url] = report.items.count }
    report.items.append(item)
  }

  private mutating func replace(_ item: ItemResult) {
    guard let old = report.items.lastIndex(where: { $0.url == item.url }) else {
      return collect(item)
    }
    var item = item
    item.position = report.items[old].position
    report.items[old] = item
  }

  /// Whether the exit status or the message of a `get` depends on the item.
  private func affectsExit(_ item: ItemResult) -> Bool {
    item.failure != nil
      || !report.mode.isOfSegments && (item.outcome == .deferred || item.outcome == .stale)
  }

  package func finished(
    at now: Moment,
    tier: TierFigures? = nil,
    gates: [HostGate] = [],
    responseTimes: [String: ResponseTimes] = [:],
    paces: [String: HostPace] = [:]
  ) -> Report {
    var finished = report
    finished.gates = gates
    finished.tier = tier
    if let tier, let trouble = tier.trouble {
      let more = tier.troubles - 1
      finished.diagnostics.append(
        Diagnostic(
          "run.tier",
          "`cache.remote` at `\(tier.host)`: \(trouble.message)"
            + (more == 0 ? "" : ", and \(more) more such trouble\(more == 1 ? "" : "s")"),
          severity: .warning,
          hint: tier.isRequired
            ? "without `required: true` a run does without it"
            : "the run went on without it; `required: true` makes this a failure"
        )
      )
    }
    finished.responseTimes = responseTimes
    finished.paces = paces
    finished.finished = now.wall
    finished.elapsed = now.uptime - startedUptime
    return finished
  }

  /// Statuses that mean "not now" count as connectivity failures.
  private func isBusy(_ status: Int) -> Bool {
    retries.isBusy(status) || status >= 500
  }
}
