import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// `env`: the variables that point tools at published trees.
struct EnvironmentCommand {
  let context: CommandContext
  let options: EnvironmentOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let selection = SegmentSelection(patterns: options.segments)
    let objections = selection.diagnostics(among: loaded.configuration.segments.map(\.name))
    guard objections.isEmpty else {
      throw CommandExit(status: context.console.fail(.usage, objections))
    }
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: context.environment.variables
    )
    let store = try context.readingStore(places)
    let state = try context.readingState(places)
    let records = try context.reading { () throws(Failure) in try store?.segments() ?? [] }
    var folders: [(layout: PublishingRules.Layout, folder: String)] = []
    for segment in loaded.configuration.segments where selection.contains(segment.name) {
      guard let rules = builder.declaration(segment).publishing else { continue }
      let key = SegmentKey(identity: loaded.identity, name: segment.name)
      let isCurrent = records.first { $0.key == key }?.state == .current
      let stands = try context.reading { () throws(Failure) in
        guard let state else { return false }
        return try PublishedTrees.standing(of: key, rules, in: state) != nil
      }
      guard isCurrent, stands else {
        context.console.note("segment `\(segment.name)` is not current: nothing points at its tree")
        continue
      }
      folders.append((rules.layout, rules.folder))
    }
    for (name, value) in ToolVariables.of(folders) {
      context.console.print("\(name)=\(ToolVariables.quoted(value))")
    }
    return ExitStatus.ok.code
  }
}
