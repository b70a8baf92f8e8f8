import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `pause`, `resume`, `lock`, `unlock` and `rm`: change all named items, or none if one is unknown.
struct ControlCommand: Command {
  let context: CommandContext
  let options: ControlOptions
  let action: ControlOptions.Action

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let items = try NamedRecords(context: context, loaded: loaded, locations: locations)
      .find(options.items, of: options.provider, storedOnly: action.needsBody)
    let durability = loaded.configuration.cache.durability
    let declared = try declaredThumbnails(excluding: items, loaded, locations)
    let outcome = try context.changingStore(locations, durability: durability) {
      store throws(Failure) in
      try apply(to: items, in: store, declared)
    }
    remember(outcome.removed, locations)
    printOutcome(items, outcome)
    return outcome.locked.isEmpty ? ExitStatus.ok.code : ExitStatus.incomplete.code
  }

  private struct Outcome {
    var locked: Set<String> = []
    /// Segments that declare removed items and will fetch them again, by URL.
    var declared: [String: [String]] = [:]
    var freed: Int64 = 0
    var removed: [String] = []
    var thumbnails: [String] = []
  }

  private func declaredThumbnails(
    excluding items: [ContentRecord],
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> Set<String> {
    guard action == .remove, !options.keepsThumbnail, items.contains(where: { $0.thumbnail != nil })
    else { return [] }
    let removable = Set(items.map(\.url))
    let store = try context.readingStore(locations)
    let declared = try DeclaredStates(context, loaded, locations, store)
    return Set(
      declared.items.filter { !removable.contains($0.entry.recordURL) }
        .compactMap { $0.entry.thumbnail?.url.string }
    )
  }

  private func apply(
    to items: [ContentRecord],
    in store: DiskStore,
    _ declared: Set<String>
  ) throws(Failure) -> Outcome {
    var outcome = Outcome()
    let urls = items.map(\.url)
    // The look at the claims also makes an active run notice the change.
    let claimed: Set<String> =
      switch action {
      case .pause, .lock, .remove: try DiskStore.claimedURLs(among: urls, in: store.path)
      case .resume, .unlock: []
      }
    switch action {
    case .pause: try store.pause(items.filter { $0.state != .paused })
    case .resume: try store.resume(items.filter { $0.state == .paused })
    case .lock:
      let now = try store.presentTime()
      let guardian = DiskStore.Guardian(
        process: options.process.map { Int32($0) },
        until: options.lifetime.map { now + $0 }
      )
      try store.introduce(items.filter { claimed.contains($0.url) })
      try store.lock(urls, for: guardian)
    case .unlock: try store.unlock(urls, of: options.process.map { Int32($0) })
    case .remove:
      outcome.locked = try store.locked(among: urls)
      var removable = items.filter { !outcome.locked.contains($0.url) }
      if !options.keepsThumbnail { removable += try thumbnails(of: removable, in: store, declared) }
      for item in removable {
        let names = try store.segmentsHolding(url: item.url).map(\.name)
        if !names.isEmpty { outcome.declared[item.url] = Set(names).sorted() }
      }
      // A paused item keeps its row until the user resumes it.
      let stays = removable.filter { options.keepsRecord || $0.state == .paused }
      let deleted = removable.filter { !options.keepsRecord && $0.state != .paused }.map(\.url)
      let removed = try store.empty(stays) + store.remove(deleted, claimed: claimed)
      outcome.freed = removed.reduce(0) { $0 + $1.size }
      outcome.removed = deleted
      outcome.thumbnails = removable.map(\.url).filter { url in !items.contains { $0.url == url } }
    }
    return outcome
  }

  private func thumbnails(
    of items: [ContentRecord],
    in store: DiskStore,
    _ declared: Set<String>
  ) throws(Failure) -> [ContentRecord] {
    var found: [ContentRecord] = []
    for url in Set(items.compactMap(\.thumbnail)).subtracting(items.map(\.url)).sorted() {
      guard let record = try store.record(url: url), record.digest != nil else { continue }
      found.append(record)
    }
    let locked = try store.locked(among: found.map(\.url))
    let used = try store.thumbnails(excluding: Set(items.map(\.url))).union(declared)
    return found.filter { !locked.contains($0.url) && !used.contains($0.url) }
  }

  /// Records removals for `list --state deleted`; a failure here is ignored.
  private func remember(_ urls: [String], _ locations: CacheLocations) {
    guard !urls.isEmpty, let state = try? StateStore.openForWriting(state: locations.state) else {
      return
    }
    let now = context.clock.now().wall
    let run = RunIdentifier.make(at: now)
    try? state.recordHistory(
      urls.map {
        HistoryEntry(
          url: $0,
          at: now,
          run: run,
          action: .remove,
          outcome: .removed,
          reason: "removed by `rm`"
        )
      }
    )
    try? state.close()
  }

  // MARK: Output

  private func printOutcome(_ items: [ContentRecord], _ outcome: Outcome) {
    for item in items where outcome.locked.contains(item.url) {
      context.console.report(
        "item.locked",
        "`\(SafeText.line(Redaction.url(item.url)))` is locked and stays",
        hint: "`prefetch unlock` removes its locks"
      )
    }
    let done = items.filter { !outcome.locked.contains($0.url) }
    if context.shared.isJSON {
      context.console.print([
        "schema": .string("prefetch-\(action.rawValue)/1"),
        "items": .array(
          items.map { item in
            [
              "url": .string(Redaction.url(item.url)),
              "id": .string(item.id),
              "provider": .optional(item.provider),
              "done": .bool(!outcome.locked.contains(item.url)),
            ]
          }
            + outcome.thumbnails.map { url in
              [
                "url": .string(Redaction.url(url)), "id": .null, "provider": .null,
                "done": .bool(true),
              ]
            }
        ),
      ])
    } else if !context.shared.isQuiet {
      for url in done.map(\.url) + outcome.thumbnails {
        context.console.print("\(verb)\t\(SafeText.line(Redaction.url(url)))")
      }
    }
    for item in done {
      guard let segments = outcome.declared[item.url], item.state != .paused else { continue }
      let names = Wording.list(segments.map { SafeText.line($0) }, conjunction: "and")
      context.console.note(
        "\(SafeText.line(Redaction.url(item.url))): declared by \(names), so the next run brings it back"
      )
    }
  }

  private var verb: String {
    switch action {
    case .pause: "paused"
    case .resume: "resumed"
    case .lock: "locked"
    case .unlock: "unlocked"
    case .remove: "removed"
    }
  }
}

struct WithLockCommand: Command {
  let context: CommandContext
  let options: WithLockOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let name = options.words[0]
    if try isToBeFetched(name, locations) {
      var wanted = GetOptions()
      wanted.shared = options.shared
      wanted.items = [name]
      wanted.printsPaths = true
      let get = GetCommand(context: context, options: wanted, isSilent: true)
      let status = try get.run()
      guard status == ExitStatus.ok.code else { return status }
    }
    let items = try NamedRecords(context: context, loaded: loaded, locations: locations)
      .find([name], of: nil, storedOnly: true)
    let urls = items.map(\.url)
    try context.changingStore(locations) { store throws(Failure) in
      try store.lock(urls, for: .thisProcess)
    }
    let end = ChildProcess.run(
      Array(options.words.dropFirst()),
      environment: context.environment.variables
    )
    try context.changingStore(locations) { store throws(Failure) in
      try store.unlock(urls, of: DiskStore.Guardian.thisProcess.process)
    }
    switch end {
    case .success(let status): return status
    case .failure(let fault):
      let name = SafeText.line(options.words[1])
      throw context.failed(.failed, "with-lock.not-started", "`\(name)` \(fault.reason)")
    }
  }

  private func isToBeFetched(
    _ name: String,
    _ locations: CacheLocations
  ) throws(CommandExit) -> Bool {
    let store = try context.readingStore(locations)
    let record = try ItemLookup(context: context).cached(name, in: store)
    guard record?.digest == nil else { return false }
    return try TypedURL.read(name, isKnown: record != nil, context) == nil
  }
}

/// Finds the records of items that the command line names.
struct NamedRecords {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations

  /// Returns each record once; an item that is declared and not stored gets a new record.
  func find(
    _ names: [String],
    of provider: String?,
    storedOnly: Bool
  ) throws(CommandExit) -> [ContentRecord] {
    let store = try context.readingStore(locations)
    let lookup = ItemLookup(context: context)
    var records: [ContentRecord] = []
    var seen: Set<String> = []
    var unknown: [String] = []
    for word in names {
      let name = provider.map { "\($0)/\(word)" } ?? word
      var record = try lookup.cached(name, in: store)
      let typed = try TypedURL.read(name, isKnown: record != nil, context)
      if record == nil {
        let builder = context.builder(loaded)
        let declared = try lookup.declared(name, builder, in: store)
        if let entry = declared ?? typed.map({ ManifestEntry(url: $0.url) }) {
          record = try self.record(of: entry, builder, in: store, storedOnly: storedOnly)
        }
      }
      guard let record else {
        unknown.append(name)
        continue
      }
      if seen.insert(record.url).inserted { records.append(record) }
    }
    guard unknown.isEmpty else {
      let names = unknown.map { "`\(SafeText.line(Redaction.url($0)))`" }
      throw context.failed(
        .nothing,
        names.map {
          storedOnly
            ? Diagnostic("item.not-cached", "\($0) is not in the cache")
            : Diagnostic("item.unknown", "\($0) is neither stored nor declared")
        }
      )
    }
    return records
  }

  private func record(
    of named: ManifestEntry,
    _ builder: RequestBuilder,
    in store: DiskStore?,
    storedOnly: Bool
  ) throws(CommandExit) -> ContentRecord? {
    try context.reading { () throws(Failure) in
      if let record = try store?.record(url: named.recordURL) { return record }
      let known = try DeclaredItems(
        of: [named.url],
        zones: [named.zone].compactMap(\.self),
        by: builder,
        in: store
      )
      let declared = known[named].first?.entry
      let url = declared?.recordURL ?? named.recordURL
      if declared?.zone != nil, let record = try store?.record(url: url) { return record }
      var record = ContentRecord(url: url, id: "")
      if let declared { record.describe(declared) }
      if declared != nil, !storedOnly { return record }
      return try isComing(url, in: store) ? record : nil
    }
  }

  private func isComing(_ url: String, in store: DiskStore?) throws(Failure) -> Bool {
    if try !DiskStore.claimedURLs(among: [url], in: locations.cache).isEmpty { return true }
    return try store?.partials()[url] != nil
  }
}
