import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// `run` and `plan`: make the cache equal to the declaration, or say what that would take.
struct RunCommand {
  let context: CommandContext
  let options: RunOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: true, needsSources: true)
    let places = try context.places(loaded)
    try checkSelection(loaded)
    if !loaded.configuration.isEnabled {
      context.console.note("`enabled` is false: nothing was done")
      if !context.shared.isJSON { return ExitStatus.ok.code }
    }
    if let splay = options.splay, StopSignals.wait(upTo: splay * Double.random(in: 0..<1)) != nil {
      return StopSignals.pending == 15 ? ExitStatus.terminated.code : ExitStatus.interrupted.code
    }
    return try Reconciliation(
      context: context,
      loaded: loaded,
      places: places,
      engine: options.engine
    ).run {
      $0.selection = loaded.configuration.isEnabled ? options.segments : [Reconciliation.nothing]
      $0.isPlan = options.isDryRun
      $0.probesItems = !options.skipsProbes
      $0.isDetailed = options.hasDetailedExitCode
    }
  }

  /// A name that matches nothing is a slip of the hand, and is found before anything is asked.
  private func checkSelection(_ loaded: LoadedConfiguration) throws(CommandExit) {
    let known = loaded.configuration.segments.map(\.name)
    let isOpen =
      loaded.configuration.subscriptions == .remembered && loaded.configuration.manifests != nil
    let unknown = options.segments.filter { pattern in
      !known.contains { Glob.matches(pattern, $0) } && !isOpen
    }
    guard !unknown.isEmpty else { return }
    let diagnostics = unknown.map { name in
      Diagnostic(
        "usage.unknown-segment",
        "no segment is called `\(name)`",
        hint: Suggestion.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
          ?? (known.isEmpty
            ? nil : "the segments are \(known.map { "`\($0)`" }.joined(separator: ", "))")
      )
    }
    throw CommandExit(status: context.console.fail(.usage, diagnostics))
  }
}
