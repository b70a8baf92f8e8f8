import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `subscribe` and `unsubscribe`: change the stored subscriptions, then run.
struct SubscribeCommand: Command {
  enum Change {
    case add([String])
    case replace([String])
    case remove([String])
    case removeAll
  }

  let context: CommandContext
  let change: Change
  let engine: EngineOptions
  let skipsRun: Bool

  init(context: CommandContext, options: SubscribeOptions) {
    self.context = context
    let names = options.names.map(Self.trimmed)
    change = options.replacesAll ? .replace(names) : .add(names)
    engine = options.engine
    skipsRun = options.skipsRun
  }

  init(context: CommandContext, options: UnsubscribeOptions) {
    self.context = context
    change = options.dropsAll ? .removeAll : .remove(options.names.map(Self.trimmed))
    engine = options.engine
    skipsRun = options.skipsRun
  }

  /// Removes blanks at the ends, which pasting a name may add.
  private static func trimmed(_ name: String) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" }
    let rest = name.drop(while: isBlank)
    guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(rest[...last])
  }

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    if !skipsRun { context.pendingRun.begin(engine) }
    let loaded = try context.configuration(isRequired: true, needsSources: !skipsRun)
    let locations = try context.locations(loaded)
    try check(loaded)
    let (unknown, subscribed) = try context.writingState(locations) { state throws(Failure) in
      let resolved = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: locations.cache,
        mayWrite: true
      )
      context.console.report(resolved.warnings)
      let key = Subscriptions.key(loaded)
      let current = try state.subscriptions(key) ?? []
      let unknown = unknownRemovals(current, loaded)
      if unknown.isEmpty { try state.replaceSubscriptions(key, by: changed(current)) }
      return (unknown, changed(current))
    }
    guard unknown.isEmpty else { return context.console.fail(.usage, unknown) }
    guard !skipsRun else {
      if context.shared.isJSON {
        context.console.print([
          "schema": "prefetch-subscribe/1", "subscribed": .strings(subscribed.sorted()),
        ])
      }
      return ExitStatus.ok.code
    }
    return try Reconciliation(
      context: context,
      loaded: loaded,
      locations: locations,
      engine: engine
    )
    .run()
  }

  private func unknownRemovals(
    _ current: Set<String>,
    _ loaded: LoadedConfiguration
  ) -> [Diagnostic] {
    guard case .remove(let names) = change else { return [] }
    let known = current.union(loaded.configuration.segments.map(\.name))
    return names.filter { !known.contains($0) }.map { name in
      Diagnostic(
        "usage.unknown-segment",
        "no segment is called `\(name)`",
        hint: Suggestion.nearest(to: name, among: known.sorted()).map { "did you mean `\($0)`?" }
      )
    }
  }

  private func changed(_ current: Set<String>) -> Set<String> {
    switch change {
    case .add(let names): current.union(names)
    case .replace(let names): Set(names)
    case .remove(let names): current.subtracting(names)
    case .removeAll: []
    }
  }

  private func check(_ loaded: LoadedConfiguration) throws(CommandExit) {
    if loaded.configuration.subscriptions == .declared {
      let file = loaded.files.first ?? "the configuration"
      throw context.failed(
        .usage,
        "usage.declared",
        "the segments are declared in `\(file)`, so they are changed there",
        hint: "`subscriptions: remembered` leaves them to this command"
      )
    }
    let names: [String] =
      switch change {
      case .add(let names), .replace(let names): names
      case .remove(let names): names
      case .removeAll: []
      }
    for name in names where name.isEmpty || name.contains(where: { "*?[".contains($0) }) {
      throw context.failed(
        .usage,
        "usage.segment-name",
        name.isEmpty
          ? "a segment's name cannot be empty"
          : "`\(SafeText.line(name))` is a pattern; segments are joined and left by their names",
        hint: name.isEmpty ? "`prefetch unsubscribe --all` drops every subscription" : nil
      )
    }
    if case .remove = change { return }
    let known = Set(loaded.configuration.segments.map(\.name))
    for name in names
    where !known.contains(name) && loaded.configuration.templatedSegment(named: name) == nil {
      throw context.failed(
        .usage,
        "usage.unknown-segment",
        "no segment is called `\(name)`, and there is no `manifests` template to find it with",
        hint: Suggestion.nearest(to: name, among: known.sorted()).map { "did you mean `\($0)`?" }
      )
    }
  }
}
