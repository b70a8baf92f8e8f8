import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct LogCommand: Command {
  let context: CommandContext
  let options: LogOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    let store = try context.readingStore(locations)
    context.report(try context.presence(loaded, locations, store), locations)
    let state = try context.readingState(locations)
    let urls = try urls(store, state)
    if let urls, urls.isEmpty {
      throw context.failed(
        .nothing,
        "log.unknown",
        "unknown item or segment `\(SafeText.line(options.subject))`"
      )
    }
    let now = context.clock.now().wall
    let since = options.since.map { now + (.zero - $0) } ?? Instant(milliseconds: 0)
    var entries: [JSONValue] = []
    if let state {
      try context.reading { () throws(Failure) in
        let names = urls.map { Set($0.map(RememberedURL.name)) }
        try state.history(since: since) { entry in
          guard names?.contains(entry.url) ?? true else { return }
          if context.shared.isJSON { return entries.append(document(entry)) }
          context.console.print(line(entry))
        }
      }
    }
    if context.shared.isJSON {
      context.console.print(["schema": "prefetch-log/1", "entries": .array(entries)])
    }
    return ExitStatus.ok.code
  }

  /// Returns the URLs and folders of trees to show, nil for all; removed items are still known by
  /// URL.
  private func urls(
    _ store: DiskStore?,
    _ state: StateStore?
  ) throws(CommandExit) -> Set<String>? {
    let subject = options.subject
    guard !subject.isEmpty else { return nil }
    let absolute = "\(context.environment.currentDirectory)/\(subject)"
    let trees = try context.reading { () throws(Failure) in
      try state.map { state throws(Failure) in try PublishedTrees.folders(in: state) } ?? []
    }
    let folders = trees.filter { tree in
      tree.segment.name == subject || [subject, absolute].contains(tree.folder)
    }.map(\.folder)
    let urls = try urls(of: subject, store)
    return folders.isEmpty ? urls : urls.union(folders)
  }

  private func urls(of subject: String, _ store: DiskStore?) throws(CommandExit) -> Set<String> {
    if let typed = try TypedURL.read(subject, isKnown: true, context) { return [typed.url.string] }
    guard let store else { return [] }
    if let record = try ItemLookup(context: context).cached(subject, in: store) {
      return [record.shownURL]
    }
    return try context.reading { () throws(Failure) in
      let inventory = try store.readInventory()
      var urls: Set<String> = []
      for segment in try store.segments() where segment.key.name == subject {
        if let list = segment.manifestURL { urls.insert(list) }
      }
      for key in inventory.segmentKeys where key.name == subject {
        let items = inventory.positions(of: key).map { inventory.rows[Int($0)].item }
        for response in try store.stored(items) {
          if let record = response?.record { urls.insert(record.shownURL) }
        }
      }
      return urls
    }
  }

  private func line(_ entry: HistoryEntry) -> String {
    [
      Timestamp.format(entry.at), entry.outcome.rawValue,
      SafeText.line(Redaction.url(entry.url)), SafeText.line(entry.reason ?? ""),
    ].joined(separator: "\t")
  }

  private func document(_ entry: HistoryEntry) -> JSONValue {
    [
      "time": .time(entry.at), "run": .string(entry.run),
      "url": .string(Redaction.url(entry.url)), "action": .string(entry.action.rawValue),
      "outcome": .string(entry.outcome.rawValue), "reason": .optional(entry.reason),
    ]
  }
}
