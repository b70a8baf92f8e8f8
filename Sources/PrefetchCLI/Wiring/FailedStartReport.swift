import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Writes reports for a run that could not begin, since some readers see reports and no status.
struct FailedStartReport {
  let context: CommandContext

  /// Does nothing if the command makes no run or has made one.
  func writeReports() {
    guard let engine = context.pendingRun.engine, let startFailure = context.console.startFailure
    else { return }
    let loaded = context.pendingRun.configuration
    let isPlan = context.pendingRun.isPlan
    let destinations = ReportFiles.destinations(loaded?.configuration, engine, isPlan: isPlan)
    guard !destinations.isEmpty else { return }
    let now = context.clock.now().wall
    var envelope = ReportEnvelope(
      report: Report(mode: isPlan ? .plan : .run, identity: loaded?.identity ?? "", started: now),
      exit: startFailure.status,
      exitCode: startFailure.status.code,
      runID: RunIdentifier.make(at: now),
      host: context.environment.hostName,
      tool: .linked,
      configurationDigest: { nil },
      configurationFiles: loaded?.files ?? [],
      listsAllItems: false,
      notices: startFailure.diagnostics,
      secrets: context.console.needles,
      objectPath: { _ in "" }
    )
    envelope.mirror = MirrorFolder.path(loaded)
    envelope.beginning = .failed
    context.console.report(ReportFiles(destinations).write(&envelope))
    if let printed = destinations.first(where: { $0.path == "-" }) {
      ReportRendering.write(envelope, as: printed.format) { context.console.print(bytes: $0) }
    }
  }
}

/// Facts that are known before a run, for reports of one that never begins.
final class PendingRun {
  var configuration: LoadedConfiguration?
  private(set) var engine: EngineOptions?
  private(set) var isPlan = false

  /// Called first by every command that ends in a run.
  func begin(_ engine: EngineOptions, isPlan: Bool = false) {
    self.engine = engine
    self.isPlan = isPlan
  }
}
