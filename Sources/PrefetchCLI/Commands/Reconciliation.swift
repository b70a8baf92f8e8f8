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
  let places: Places
  let engine: EngineOptions
  var selection: [String] = []
  var isPlan = false
  var probesItems = true
  var isDetailed = false

  init(context: CommandContext, loaded: LoadedConfiguration, places: Places, engine: EngineOptions)
  {
    self.context = context
    self.loaded = loaded
    self.places = places
    self.engine = engine
  }

  func run(_ adjust: (inout Self) -> Void = { _ in }) throws(CommandExit) -> Int32 {
    var copy = self
    adjust(&copy)
    return try copy.perform()
  }

  private func perform() throws(CommandExit) -> Int32 {
    let objections =
      LicenseSetup.diagnostics(loaded).filter { $0.severity == .error }
      + PublishingSetup.diagnostics(loaded, places)
    guard objections.isEmpty else {
      throw CommandExit(status: context.console.fail(.config, objections))
    }
    let now = context.clock.now().wall
    let expiries = loaded.expiryDiagnostics(at: now, expired: .warning)
    context.console.report(expiries)
    let notices = loaded.diagnostics + expiries
    let runID = RunIdentifier.make(at: now)
    var session = RunSession(
      context: context,
      loaded: loaded,
      places: places,
      engine: engine,
      runID: runID
    )
    session.selection = selection
    session.isPlan = isPlan
    session.probesItems = probesItems
    session.listsKept = listsAllItems
    session.printsPlan = printsPlan
    session.keepsItems = needsItems
    // Turned off, it touches nothing, and says so in the same form.
    let report =
      loaded.configuration.hasRuns
      ? try session.run()
      : Report(mode: isPlan ? .plan : .run, identity: loaded.identity, started: now)
    let exit = ExitStatus(report, detailed: isDetailed)
    let passing = ExitStatus(report, detailed: isDetailed, accepting: accepted)
    let envelope = ReportEnvelope(
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
    return write(envelope)
  }

  private var accepted: Set<ExitStatus> {
    let configured = loaded.configuration.accept.compactMap { name in
      ExitStatus.allCases.first { $0.name == name.rawValue }
    }
    return Set(engine.accepted.isEmpty ? configured : engine.accepted)
  }

  private var listsAllItems: Bool {
    engine.items.map { $0 == .all } ?? (loaded.configuration.report.items == .all)
  }

  /// Lines of a plan give way to whatever document is asked for in their place.
  private var printsPlan: Bool {
    isPlan && !context.shared.isJSON && !destinations.contains { $0.path == "-" }
  }

  /// Whether any rendering names items besides those that failed.
  private var needsItems: Bool {
    if context.shared.isJSON { return true }
    let formats = destinations.map(\.format) + (isPlan ? [] : [format])
    return formats.contains { format in
      switch format {
      case .prometheus: false
      case .text: listsAllItems
      // Of items they tell failures only; those of a plan are kept with all others.
      case .md, .html: isPlan
      case .json, .ndjson, .junit: true
      }
    }
  }

  private var format: ReportFormat {
    ReportFormat(rawValue: loaded.configuration.report.format.rawValue) ?? .text
  }

  private var objectPath: @Sendable (ContentDigest) -> String {
    let cache = places.cache
    return { DiskStore.objectPath($0, cache: cache) }
  }

  private func write(_ envelope: ReportEnvelope) -> Int32 {
    say(envelope)
    let toStandardOutput = printed(envelope)
    var status = envelope.exitCode
    for destination in destinations where destination.path != "-" {
      let bytes = ReportRendering.bytes(envelope, as: destination.format)
      do {
        try AtomicFile.write(bytes, to: destination.path)
      } catch {
        context.console.report(
          Diagnostic("report.write", "the report `\(destination.path)`: \(error.message)")
        )
        // What was found weighs more than where it could not be written.
        if envelope.exit != .trust, envelope.report.signal == nil { status = ExitStatus.io.code }
      }
    }
    context.console.print(bytes: toStandardOutput)
    if isPlan {
      // After the lines also where both streams are one terminal.
      context.console.flush()
      context.console.note(PlanSummary(report: envelope.report).line)
    }
    return status
  }

  /// What is left, where a signal ended the run; nil where nothing is.
  private func remainder(_ report: Report) -> String? {
    guard report.signal != nil else { return nil }
    let unseen = report.segments.count { $0.isInterrupted && $0.totals.items == 0 }
    let left =
      (report.totals.deferred > 0 ? [Amounts.count(report.totals.deferred, "item")] : [])
      + (unseen > 0 ? [Amounts.count(Int64(unseen), "segment") + " not looked into"] : [])
    guard !left.isEmpty else { return nil }
    return "interrupted; left for the next run: \(left.joined(separator: " and "))"
  }

  /// Failures one by one on stderr: precise when something is wrong.
  private func say(_ envelope: ReportEnvelope) {
    if let failure = envelope.report.storeFailure {
      context.console.report(Diagnostic("store.\(failure.code.rawValue)", failure.message))
    }
    context.console.report(envelope.report.diagnostics)
    if let remainder = remainder(envelope.report) { context.console.note(remainder) }
    if envelope.exitCode == 0, let warning = staleness(envelope.report) {
      context.console.report(warning)
    }
    if let warning = emptiness(envelope.report) { context.console.report(warning) }
    let lines = FailureLines(envelope: envelope, tellsAll: context.shared.verbosity > 0)
    guard !isPlan else { return context.console.report(lines.ofManifests) }
    context.console.report(lines.diagnostics)
    if let next = lines.nextStep { context.console.note(next) }
  }

  /// What ends well with older copies is not as declared, which one warning says for all.
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

  /// Nothing is wrong where an ad server has no ad, and nothing is there to be shown.
  private func emptiness(_ report: Report) -> Diagnostic? {
    guard let first = report.firstEmpty else { return nil }
    let name = (try? WebURL(first))?.redacted ?? ""
    let rest = report.emptyCount > 1 ? " and \(report.emptyCount - 1) more" : ""
    return Diagnostic("run.no-ad", "there is no ad at \(name)\(rest)", severity: .warning)
  }

  private func printed(_ envelope: ReportEnvelope) -> [UInt8] {
    if context.shared.isJSON {
      return JSONWriter.bytes(ReportJSON(envelope: envelope).document, form: .pretty) + [
        UInt8(ascii: "\n")
      ]
    }
    if let destination = destinations.first(where: { $0.path == "-" }) {
      return ReportRendering.bytes(envelope, as: destination.format)
    }
    // Its lines are printed already.
    if isPlan { return [] }
    // Silent when all is well, or will be by itself.
    let isWell = [.ok, .deferred].contains(ExitStatus(rawValue: envelope.exitCode))
    if context.shared.isQuiet, isWell { return [] }
    return ReportRendering.bytes(envelope, as: format)
  }

  /// The configuration's files, and over them those of the command line.
  ///
  /// A dry run writes only what was asked for on its own command line.
  private var destinations: [ReportDestination] {
    let configured = loaded.configuration.report.files.sorted { $0.key < $1.key }.compactMap {
      format,
      path in
      ReportFormat(rawValue: format).map { ReportDestination(format: $0, path: path) }
    }
    return (isPlan ? [] : configured) + engine.reports
  }
}

/// Names for runs: sortable by time, and different for two in one millisecond.
enum RunIdentifier {
  static func make(at now: Instant) -> String {
    let time = String(
      Timestamp.format(now).unicodeScalars.filter { !"-:.".unicodeScalars.contains($0) }
    )
    let random = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    return "\(time)-\(String(repeating: "0", count: 8 - random.count))\(random)"
  }
}
