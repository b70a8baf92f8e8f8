import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// A run that ended before it began, for a reader of its reports rather than its status: the
/// configuration is invalid, or there is no store to work on.
struct UnbegunRun {
  let context: CommandContext

  /// Nothing where the command was to end in no run, or got as far as one.
  func writeReports() {
    guard let engine = context.outset.engine, let ending = context.console.ending else { return }
    let loaded = context.outset.configuration
    let isPlan = context.outset.isPlan
    let destinations = ReportFiles.destinations(loaded?.configuration, engine, isPlan: isPlan)
    guard !destinations.isEmpty else { return }
    let now = context.clock.now().wall
    var envelope = ReportEnvelope(
      report: Report(mode: isPlan ? .plan : .run, identity: loaded?.identity ?? "", started: now),
      exit: ending.status,
      exitCode: ending.status.code,
      runID: RunIdentifier.make(at: now),
      host: context.environment.hostName,
      tool: .linked,
      configurationDigest: { nil },
      configurationFiles: loaded?.files ?? [],
      listsAllItems: false,
      notices: ending.diagnostics,
      secrets: context.console.needles,
      objectPath: { _ in "" }
    )
    envelope.mirror = MirrorFolder.path(loaded)
    envelope.beginning = .failed
    context.console.report(ReportFiles(destinations).write(&envelope))
    if let printed = destinations.first(where: { $0.path == "-" }) {
      context.console.print(bytes: ReportRendering.bytes(envelope, as: printed.format))
    }
  }
}

/// What is known of a run before it begins, for reports of one that never does.
final class RunOutset {
  /// As it was read, be it valid or not.
  var configuration: LoadedConfiguration?
  private(set) var engine: EngineOptions?
  private(set) var isPlan = false

  /// A command that ends in a run says so first of all.
  func begin(_ engine: EngineOptions, isPlan: Bool = false) {
    self.engine = engine
    self.isPlan = isPlan
  }
}
