import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// `env`: the variables that point tools at published trees.
struct EnvironmentCommand: Command {
  let context: CommandContext
  let options: EnvironmentOptions

  func run() throws(CommandExit) -> Int32 {
    let scope = try PublishingScope(context, options.segments)
    let store = try context.readingStore(scope.places)
    let state = try context.readingState(scope.places)
    let records = try context.reading { () throws(Failure) in try store?.segments() ?? [] }
    var folders: [(layout: PublishingRules.Layout, folder: String)] = []
    for segment in scope.segments {
      guard let rules = segment.publishing else { continue }
      let key = scope.key(segment)
      let isCurrent = records.first { $0.key == key }?.state == .current
      let stands = try context.reading { () throws(Failure) in
        guard let state else { return false }
        return try PublishedTrees.standing(of: key, rules, in: state) != nil
      }
      guard isCurrent, stands else {
        context.console.note("segment `\(segment.name)` is not current: nothing points at its tree")
        continue
      }
      if let reason = ToolVariables.reasonForNone(rules.layout, after: folders.map(\.layout)) {
        context.console.note("segment `\(segment.name)` gets no variable: \(reason)")
      }
      folders.append((rules.layout, rules.folder))
    }
    for (name, value) in ToolVariables.of(folders) {
      context.console.print(exactly: "\(name)=\(ToolVariables.quoted(value))")
    }
    return ExitStatus.ok.code
  }
}
