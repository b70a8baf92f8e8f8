import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// `run` and `plan`: make the cache equal to the declaration, or show the changes.
struct RunCommand: Command {
  let context: CommandContext
  let options: RunOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    context.pendingRun.begin(options.engine, isPlan: options.isDryRun)
    let loaded = try context.configuration(isRequired: true, needsSources: true)
    let locations = try context.locations(loaded)
    try checkSelection(loaded, locations)
    return try reconcile(loaded, locations)
  }

  func reconcile(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    files: SystemFiles = SystemFiles()
  ) throws(CommandExit) -> Int32 {
    if !loaded.configuration.hasRuns {
      let key = loaded.configuration.isEnabled ? "features.precaching" : "enabled"
      context.console.note("`\(key)` is false: nothing was done")
      if !context.shared.isJSON { return ExitStatus.ok.code }
    }
    // A signal during this wait ends the run before its first request.
    if let splay = options.splay { _ = StopSignals.wait(upTo: splay * Double.random(in: 0..<1)) }
    return try Reconciliation(
      context: context,
      loaded: loaded,
      locations: locations,
      engine: options.engine,
      selection: options.segments,
      isPlan: options.isDryRun,
      probesItems: !options.skipsProbes,
      isDetailed: options.hasDetailedExitCode,
      files: files
    ).run()
  }

  /// Also accepts subscribed segments, which are in no file.
  private func checkSelection(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) {
    guard !options.segments.isEmpty else { return }
    let state = try context.readingState(locations)
    let subscribed = try context.reading { () throws(Failure) in
      try Subscriptions.resolve(loaded, state: state, cache: locations.cache, mayWrite: false)
        .segments
        .map(\.name)
    }
    let declared = loaded.configuration.segments.map(\.name)
    let known = declared + subscribed.filter { !declared.contains($0) }
    let unknown = SegmentSelection(patterns: options.segments).diagnostics(among: known)
    guard unknown.isEmpty else {
      throw context.failed(.usage, unknown)
    }
  }
}
