import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// `env`: prints the variables that point tools at published trees.
struct EnvironmentCommand: Command {
  let context: CommandContext
  let options: EnvironmentOptions

  func run() throws(CommandExit) -> Int32 {
    let scope = try PublishingScope(context, options.segments, needsSecrets: false)
    let store = try context.readingStore(scope.locations)
    let state = try context.readingState(scope.locations)
    let records = try context.reading { () throws(Failure) in try store?.segments() ?? [] }
    let presence = try context.presence(scope.loaded, scope.locations, store)
    let changes = try context.reading { () throws(Failure) in
      let folders = scope.folders
      return try context.changedTrees(state, store, presence, scope.locations, declared: folders)
    }
    var folders: [(layout: PublishingRules.Layout, folder: String)] = []
    var isOffline = true
    var withheld: Set<PublishingRules.Layout> = []
    var isComplete = true
    for segment in scope.segments {
      let key = scope.key(segment)
      let record = records.first { $0.key == key }
      guard let rules = segment.publishing else {
        if record?.state != .current { isComplete = false }
        continue
      }
      let limit = scope.builder.policy.maximumManifestSize
      let objection = try context.reading { () throws(Failure) -> String? in
        guard record?.state == .current else {
          let trouble = try SegmentTrouble(of: key, list: segment.listName, record, store, state)
          return trouble.text(now: context.clock.now().wall)
        }
        if let change = LocalList(segment)?.change(since: record, limit: limit) { return change }
        let stands = try state.map { state throws(Failure) in
          try PublishedTrees.existingTree(of: key, rules, in: state) != nil
        }
        guard stands == true else {
          return "its tree `\(rules.folder)` is missing or incomplete; `prefetch publish` makes it"
        }
        let missing = changes.missingCount(of: segment.name)
        guard missing > 0 else { return nil }
        let files = CountedNoun("file is", "files are").text(missing)
        return "\(files) missing from its tree `\(rules.folder)`; `prefetch run` publishes again"
      }
      if let objection {
        context.console.note("segment `\(segment.name)` gets no variable: \(objection)")
        withheld.insert(rules.layout)
        isComplete = false
        continue
      }
      // Cargo unpacks crates below its home, and builds nothing if that is read-only.
      if rules.layout == .cargo, !FileReading.isWritableFolder(rules.cargoHome) {
        let option = ToolVariables.quoted("\(rules.cargoHome)/config.toml")
        context.console.note(
          "segment `\(segment.name)` gets no variable: cargo cannot write into its tree; "
            + "`cargo --config \(option)` builds from it"
        )
        continue
      }
      if let reason = ToolVariables.reasonForNone(rules.layout, after: folders.map(\.layout)) {
        context.console.note("segment `\(segment.name)` gets no variable: \(reason)")
      }
      if LocalList.tool(of: segment)?.usesTree == false { isOffline = false }
      folders.append((rules.layout, rules.folder))
    }
    for (name, value) in ToolVariables.of(folders, withheld: withheld, isOffline: isOffline) {
      context.console.print(exactly: options.shell.line(name, value))
    }
    if folders.isEmpty, withheld.isEmpty {
      context.console.note(
        "no segment publishes a tree; `publish: {layout: …, dir: …}` of a segment makes one"
      )
      isComplete = false
    }
    return options.isStrict && !isComplete ? ExitStatus.nothing.code : ExitStatus.ok.code
  }
}
