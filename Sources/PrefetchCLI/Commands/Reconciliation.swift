import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// A run with its report and exit status, for every command that ends in one.
struct Reconciliation {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let engine: EngineOptions
  var selection: [String] = []
  var isPlan = false
  var probesItems = true
  var isDetailed = false
  var files = SystemFiles()
  /// Patterns of URLs for which the lock file is lifted, all if empty; nil to keep to it.
  var lifted: [String]?

  func run() throws(CommandExit) -> Int32 {
    let objections =
      LicenseSetup.diagnostics(loaded).filter { $0.severity == .error }
      + PublishingSetup.diagnostics(loaded, locations)
      + (isPlan || engine.skipsHooks ? [] : HookTrust.diagnostics(loaded))
    guard objections.isEmpty else {
      throw context.failed(.config, objections)
    }
    let shard = try shard()
    let now = context.clock.now().wall
    let runID = RunIdentifier.make(at: now)
    context.console.runID = runID
    if !isPlan, loaded.configuration.isEnabled { context.console.journal = journal }
    context.console.keep("run \(runID) begins")
    let warnings =
      loaded.expiryDiagnostics(at: now, expired: .warning)
      + LibraryLints(configuration: loaded.configuration).diagnostics
    context.console.report(warnings)
    let notices = loaded.diagnostics + warnings
    var session = RunSession(
      context: context,
      loaded: loaded,
      locations: locations,
      engine: engine,
      runID: runID
    )
    session.selection = selection
    session.shard = shard
    session.lockfile = try context.lockfile(loaded, isFrozen: engine.isFrozen, lifting: lifted)
    session.isPlan = isPlan
    session.files = files
    session.probesItems = probesItems
    session.listsKept = listsAllItems
    session.printsPlan = printsPlan
    session.keepsItems = needsItems
    let transfers = isWanted(.html) ? TransferRecord(startingAt: now) : nil
    session.transfers = transfers
    // A disabled configuration changes nothing and reports that in the same form.
    let report =
      loaded.configuration.hasRuns
      ? try session.run()
      : Report(mode: isPlan ? .plan : .run, identity: loaded.identity, started: now)
    let exit = ExitStatus(report, detailed: isDetailed)
    let passing = ExitStatus(report, detailed: isDetailed, accepting: accepted)
    var envelope = ReportEnvelope(
      report: report,
      exit: exit,
      exitCode: passing.code,
      runID: runID,
      host: context.environment.hostName,
      tool: .linked,
      configurationDigest: { [loaded] in
        SHA256.digest(of: JSONWriter.string(loaded.canonical)).description
      },
      configurationFiles: loaded.files,
      listsAllItems: listsAllItems,
      notices: notices,
      secrets: context.console.needles,
      objectPath: objectPath
    )
    if let transfers {
      envelope.transfers = transfers.log
      envelope.pastRuns = pastRuns
    }
    envelope.mirror = MirrorFolder.path(loaded)
    envelope.shard = shard?.text
    envelope.isOffline = engine.isOffline
    envelope.explanationOptions = explanationOptions
    envelope.beginning = report.deferral?.rule == .lock ? .locked : .made
    if destinations.contains(where: { $0.format == .prometheus }) {
      envelope.lastSuccess = lastSuccess(before: runID)
    }
    if !selection.isEmpty { envelope.others = others(than: report.segments) }
    return write(envelope)
  }

  private var explanationOptions: [String] {
    let shared = context.shared
    let own = MirrorFolder.explanationOptions(loaded, locations)
    let given = [("--cache-dir", shared.cacheDirectory), ("--state-dir", shared.stateDirectory)]
      .flatMap { option, folder in folder.map { [option, $0] } ?? [] }
    let words =
      (own.isEmpty ? given : own)
      + shared.configurationFiles.filter { $0 != "-" }.flatMap { ["-c", $0] }
      + (shared.profile.map { ["--profile", $0] } ?? [])
      + shared.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
    return words.map { SafeText.line(ServiceUnit.shellQuoted($0)) }
  }

  private func shard() throws(CommandExit) -> Shard? {
    guard let wish = engine.shard else { return nil }
    if let segment = loaded.configuration.segments.first(where: {
      $0.declaration.publishing.map { !$0.folder.isEmpty } ?? false
    }) {
      let message = "`--shard` does a part of segment `\(segment.name)`, and a tree needs all of it"
      guard segment.declaration.publishing?.mirror == nil else {
        throw context.failed(.usage, [Diagnostic("usage.shard", message)])
      }
      context.console.note("\(message): nothing is published; a run without `--shard` does that")
    }
    switch wish {
    case .given(let shard): return shard
    case .ofEnvironment:
      if let shard = Shard(environment: context.environment.variables) { return shard }
      throw context.failed(
        .usage,
        [
          Diagnostic(
            "usage.shard",
            "`--shard env` finds no shard in the environment",
            hint:
              "it reads SLURM_ARRAY_TASK_ID with _MIN and _COUNT, CI_NODE_INDEX with CI_NODE_TOTAL, or JOB_COMPLETION_INDEX with PREFETCH_SHARDS"
          )
        ]
      )
    }
  }

  private func others(than segments: [Report.Segment]) -> [SegmentRecord] {
    let selected = Set(segments.map(\.name))
    let records = (try? context.readingStore(locations)?.segments()) ?? nil
    return (records ?? []).filter {
      $0.key.identity == loaded.identity && !selected.contains($0.key.name)
    }
  }

  private var pastRuns: [RunRecord] {
    let state = (try? context.readingState(locations)) ?? nil
    return (try? state?.runs(of: loaded.identity)) ?? []
  }

  /// Log that keeps the run's messages for a while, unless they go into a file anyway.
  private var journal: RunLog? {
    guard context.shared.logFile == nil else { return nil }
    return RunLog(
      state: locations.state,
      name: loaded.configuration.bundleID ?? loaded.configuration.name ?? "prefetch",
      isJSON: context.shared.logFormat == .json,
      clock: context.clock
    )
  }

  /// Returns the last success for metrics; nil if only the metrics file may know it.
  private func lastSuccess(before run: String) -> Instant? {
    var reports: [Diagnostic] = []
    let state = try? StateStore.openForReading(state: locations.state, reports: &reports)
    return (try? state?.lastSuccess(of: loaded.identity, before: run)) ?? nil
  }

  private func keptPartCount(_ report: Report) -> Int {
    let unfinished = report.items.filter { $0.failure != nil || $0.deferral != nil }
    guard !unfinished.isEmpty, let store = (try? context.readingStore(locations)) ?? nil,
      let parts = try? store.partials()
    else { return 0 }
    return unfinished.count { parts[$0.url] != nil }
  }

  private var accepted: Set<ExitStatus> {
    Set(engine.accepted.isEmpty ? loaded.configuration.accept : engine.accepted)
  }

  private var listsAllItems: Bool {
    (engine.items ?? loaded.configuration.report.items) == .all
  }

  /// Whether the plan's lines go to stdout, which no other document occupies.
  private var printsPlan: Bool {
    isPlan && !context.shared.isJSON && !destinations.contains { $0.path == "-" }
  }

  private var needsItems: Bool {
    if context.shared.isJSON { return true }
    return formats.contains {
      ReportRendering.namesItems($0, isPlan: isPlan, listsAllItems: listsAllItems)
    }
  }

  private func isWanted(_ format: ReportFormat) -> Bool {
    formats.contains(format)
  }

  private var formats: [ReportFormat] {
    destinations.map(\.format)
      + (isPlan || context.shared.isJSON ? [] : [loaded.configuration.report.format])
  }

  private var objectPath: @Sendable (ContentDigest) -> String {
    let bodies = locations.bodies
    return { bodies.path(of: $0) }
  }

  private func write(_ report: ReportEnvelope) -> Int32 {
    var envelope = report
    if envelope.exitCode != 0, !isPlan { envelope.keptPartCount = keptPartCount(envelope.report) }
    say(envelope)
    // The log holds the full report, also with `-q`.
    if context.console.journal != nil {
      for line in ReportText(envelope: envelope).lines { context.console.keep(line) }
    }
    context.console.report(ReportFiles(destinations).write(&envelope))
    print(envelope)
    if isPlan {
      // Keeps the order where both streams are one terminal.
      context.console.flush()
      sayChoices(envelope.report)
      context.console.note(PlanSummary(report: envelope.report).line)
    }
    return envelope.exitCode
  }

  /// Reports choices made in lock files for several machines and purposes; `-v` does already.
  private func sayChoices(_ report: Report) {
    guard context.shared.verbosity == 0 else { return }
    for segment in report.segments {
      for note in segment.manifest.warnings where note.code == Diagnostic.lockChoice {
        context.console.note("segment `\(segment.name)`: \(note.message)")
      }
    }
  }

  private func remainder(_ report: Report) -> String? {
    guard report.signal != nil else { return nil }
    let unseen = report.segments.count { $0.isInterrupted && $0.totals.items == 0 }
    let left =
      (report.totals.deferred > 0 ? [Amounts.count(report.totals.deferred, "item")] : [])
      + (unseen > 0 ? [Amounts.count(Int64(unseen), "segment") + " not looked into"] : [])
    guard !left.isEmpty else { return nil }
    return "interrupted; left for the next run: \(left.joined(separator: " and "))"
  }

  private func say(_ envelope: ReportEnvelope) {
    if let failure = envelope.report.storeFailure {
      context.console.report("store.\(failure.code.rawValue)", failure.message)
    }
    context.console.report(envelope.report.diagnostics)
    if let remainder = remainder(envelope.report) { context.console.note(remainder) }
    if envelope.exitCode == 0, let warning = staleness(envelope.report) {
      context.console.warn(warning)
    }
    if context.shared.isQuiet, let warning = fullDisk(envelope.report) {
      context.console.warn(warning)
    }
    if let warning = emptiness(envelope.report) { context.console.report(warning) }
    if let warning = htmlCards(envelope.report) { context.console.report(warning) }
    let lines = FailureLines(envelope: envelope, showsAll: context.shared.verbosity > 0)
    for line in isPlan ? lines.ofManifests : lines.lines {
      context.console.report(line.diagnostic, about: line.subject)
    }
    guard !isPlan else { return }
    guard let next = lines.nextStep else { return }
    // Like the errors before it; what only waits needs no step.
    if [.ok, .deferred].contains(ExitStatus(rawValue: envelope.exitCode)) {
      context.console.note(next)
    } else {
      context.console.advise(next)
    }
  }

  /// Warns once for all stale copies: the run succeeds but the cache is not as declared.
  private func staleness(_ report: Report) -> Diagnostic? {
    guard report.staleCount > 0 else { return nil }
    let items = Amounts.count(Int64(report.staleCount), "item")
    let age = report.oldestStale.map {
      "; the oldest was last confirmed \(Amounts.duration(report.finished - $0)) ago"
    }
    return Diagnostic(
      "run.stale",
      "\(items) served stale\(age ?? "")",
      severity: .warning
    )
  }

  /// Warns of a full disk, which time alone does not fix.
  private func fullDisk(_ report: Report) -> Diagnostic? {
    let waiting = report.segments.filter { $0.deferral?.rule == .freeDisk }
    guard let first = waiting.first else { return nil }
    let more = waiting.count > 1 ? " and \(waiting.count - 1) more" : ""
    return Diagnostic(
      "run.free-disk",
      "segment `\(first.name)`\(more) waits for room on the disk, of which `cache.min_free` keeps a part",
      severity: .warning,
      hint: "make room, or lower `cache.min_free`; `prefetch doctor` shows the figures"
    )
  }

  /// Warns of an ad server without an ad: no error, but nothing to show either.
  private func emptiness(_ report: Report) -> Diagnostic? {
    guard let first = report.firstEmpty else { return nil }
    let name = (try? WebURL(first))?.redacted ?? ""
    let rest = report.emptyCount > 1 ? " and \(report.emptyCount - 1) more" : ""
    return Diagnostic("run.no-ad", "there is no ad at \(name)\(rest)", severity: .warning)
  }

  /// Warns of HTML end cards that are not kept: frames, which servers count, and long pages.
  private func htmlCards(_ report: Report) -> Diagnostic? {
    guard let first = report.firstHTMLCard else { return nil }
    let cards = Amounts.count(Int64(report.htmlCardCount), "HTML end card")
    let name = (try? WebURL(first))?.redacted ?? ""
    return Diagnostic(
      "run.html-cards",
      "\(cards) of ads not kept, the first at \(name): frames of other servers, or longer than 1 MiB",
      severity: .warning
    )
  }

  private func print(_ envelope: ReportEnvelope) {
    guard let format = printedFormat(envelope) else { return }
    if format == .text, destinations.allSatisfy({ $0.path != "-" }),
      let size = TerminalScreen.size(of: 1)
    {
      let text = ReportText(envelope: envelope, columns: size.columns)
      return context.console.print(chunk: text.lines.joined(separator: "\n") + "\n")
    }
    ReportRendering.write(envelope, as: format) { context.console.print(bytes: $0) }
  }

  private func printedFormat(_ envelope: ReportEnvelope) -> ReportFormat? {
    if context.shared.isJSON { return .json }
    if let destination = destinations.first(where: { $0.path == "-" }) { return destination.format }
    if isPlan { return nil }
    let isWell = [.ok, .deferred].contains(ExitStatus(rawValue: envelope.exitCode))
    return context.shared.isQuiet && isWell ? nil : loaded.configuration.report.format
  }

  private var destinations: [ReportDestination] {
    ReportFiles.destinations(loaded.configuration, engine, isPlan: isPlan)
  }
}

/// Makes ids of runs: sortable by time, distinct within one millisecond.
enum RunIdentifier {
  static func make(at now: Instant) -> String {
    let time = String(
      Timestamp.format(now).unicodeScalars.filter { !"-:.".unicodeScalars.contains($0) }
    )
    let random = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    return "\(time)-\(String(repeating: "0", count: 8 - random.count))\(random)"
  }
}
