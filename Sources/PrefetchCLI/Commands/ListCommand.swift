import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

struct ListCommand: Command {
  let context: CommandContext
  let options: ListOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    if options.listsIdentities {
      return try IdentityList(context: context, locations: locations).run()
    }
    let uses = try readUses(locations)
    let store = try context.readingStore(locations)
    let presence = try context.presence(loaded, locations, store, readsState: false)
    context.report(presence, locations)
    let printer = ItemPrinter(
      console: context.console,
      bodies: store?.bodyPaths ?? locations.bodies,
      uses: uses,
      grants: GrantedLifetimes(loaded.configuration),
      progress: context.shared.isJSON ? ItemProgress.byURL(inCache: locations.cache) : [:]
    )
    let declared = try declared(loaded, locations, store)
    let consumed = try consumptions(locations)
    do throws(Failure) {
      var bodiless = (declared?.items ?? []).compactMap { listed($0, declared) }
      if options.states.contains(.deleted) { bodiless += try deleted(locations, store, declared) }
      // Without sort keys, items without a row follow all stored ones.
      var merge = ListMerge(bodiless, by: options.sortKeys, uses: uses)
      if let store {
        try list(store, printer, uses, declared, consumed) { item in
          for before in merge.drain(before: item) { print(before, printer) }
        }
      }
      for item in merge.drainAll() { print(item, printer) }
    } catch {
      guard printer.hasBegun else { throw context.storeFailed(error) }
      // A document that was begun cannot turn into an error document.
      context.console.report("store.\(error.code.rawValue)", error.message)
      return ExitStatus.io.code
    }
    if context.shared.isJSON { printer.endDocument() }
    return ExitStatus.ok.code
  }

  private func readUses(_ locations: CacheLocations) throws(CommandExit) -> [String: Instant] {
    guard context.shared.isJSON || options.sortKeys.contains(where: { $0.field == .used }) else {
      return [:]
    }
    guard let state = try context.readingState(locations) else { return [:] }
    return try context.reading { () throws(Failure) in try state.uses() }
  }

  private func declared(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> DeclaredStates? {
    let open: Set<ItemState> = [.pending, .discovered, .queued, .downloading, .idle, .deleted]
    guard !options.parents.isEmpty || options.states.contains(where: open.contains) else {
      return nil
    }
    return try DeclaredStates(context, loaded, locations, store)
  }

  /// Whether the item is listed from its declaration, since a row without a body holds no reason.
  private func isOpen(_ item: StoredItem, _ declared: DeclaredStates?) -> Bool {
    guard let declared, item.size == nil, item.state != .paused, item.state != .failed else {
      return false
    }
    return declared.indexByURL[item.url] != nil
  }

  private func consumptions(_ locations: CacheLocations) throws(CommandExit) -> [String: Instant] {
    guard options.isUnconsumedOnly, let state = try context.readingState(locations) else {
      return [:]
    }
    return try context.reading { () throws(Failure) in try state.consumptions() }
  }

  /// Whether an item was consumed; a body that was fetched later counts as new.
  private func isConsumed(
    _ item: StoredItem,
    _ consumed: [String: Instant],
    _ store: DiskStore
  ) throws(Failure) -> Bool {
    guard !consumed.isEmpty, let instant = consumed[RememberedURL.name(of: item.url)] else {
      return false
    }
    guard let fetchedAt = try store.record(item: item.item)?.fetchedAt else { return true }
    return fetchedAt <= instant
  }

  private func print(_ item: ListedItem, _ printer: ItemPrinter) {
    printer.print(
      item.stored,
      item.record,
      isDocument: context.shared.isJSON,
      reason: item.reason
    )
  }

  private func listed(
    _ item: DeclaredStates.Item,
    _ declared: DeclaredStates?
  ) -> ListedItem? {
    var record = ContentRecord(url: item.entry.recordURL, id: "")
    record.describe(item.entry)
    if record.id.isEmpty { record.id = ItemIdentifier.make(for: item.entry.url) }
    record.state = item.state
    var stored = StoredItem(url: record.url, state: item.state, segments: item.segments)
    stored.shownURL = record.shownURL
    guard options.states.contains(item.state), matches(stored), matches(record, declared) else {
      return nil
    }
    return ListedItem(stored: stored, record: record, reason: item.reason)
  }

  /// Returns items that were removed in the last 30 days and are not stored.
  private func deleted(
    _ locations: CacheLocations,
    _ store: DiskStore?,
    _ declared: DeclaredStates?
  ) throws(Failure) -> [ListedItem] {
    var found: [ListedItem] = []
    var reports: [Diagnostic] = []
    let state = try StateStore.openForReading(state: locations.state, reports: &reports)
    let now = context.clock.now().wall
    let removals = try state?.removals(since: now + .seconds(-30 * 86_400)) ?? [:]
    for (url, instant) in removals.sorted(by: { $0.key < $1.key }) {
      guard try store?.record(url: url) == nil, declared?.indexByURL[url] == nil,
        let address = try? WebURL(url)
      else { continue }
      var record = ContentRecord(url: address.string, id: ItemIdentifier.make(for: address))
      record.state = .deleted
      let item = StoredItem(url: address.string, state: .deleted)
      guard matches(item), matches(record, nil) else { continue }
      let reason = "removed on \(Timestamp.format(instant))"
      found.append(ListedItem(stored: item, record: record, reason: reason))
    }
    return found
  }

  private func list(
    _ store: DiskStore,
    _ printer: ItemPrinter,
    _ uses: [String: Instant],
    _ declared: DeclaredStates?,
    _ consumed: [String: Instant],
    before: (ListedItem) -> Void
  ) throws(Failure) {
    let isMerged =
      !options.sortKeys.isEmpty && (declared != nil || options.states.contains(.deleted))
    let needsRecords =
      isMerged || context.shared.isJSON || !options.types.isEmpty || !options.providers.isEmpty
      || !options.ids.isEmpty || !options.categories.isEmpty || !options.parents.isEmpty
      || options.search != nil
    let sorting = options.sortKeys.map { ItemSorting($0.field, isDescending: $0.isDescending) }
    try store.forEachItem(sorted: sorting, uses: uses) { item throws(Failure) in
      guard matches(item), !isOpen(item, declared), try !isConsumed(item, consumed, store) else {
        return true
      }
      guard needsRecords else {
        printer.printLine(item)
        return !context.console.isClosed
      }
      guard let record = try store.record(item: item.item),
        matches(record, declared)
      else { return true }
      let listed = ListedItem(stored: item, record: record)
      before(listed)
      print(listed, printer)
      return !context.console.isClosed
    }
  }

  private func matches(_ item: StoredItem) -> Bool {
    (options.segments.isEmpty
      || options.segments.contains { pattern in item.segments.contains { Glob.matches(pattern, $0) }
      })
      && (options.states.isEmpty || options.states.contains(item.state))
      && (options.urlGlobs.isEmpty || options.urlGlobs.contains { Glob.matches($0, item.shownURL) })
      && (!options.isLockedOnly || item.isLocked)
  }

  private func matches(_ record: ContentRecord, _ declared: DeclaredStates?) -> Bool {
    (options.categories.isEmpty || options.categories.contains(where: record.categories.contains))
      && (options.parents.isEmpty
        || options.parents.contains { parent in
          record.categories.contains { declared?.isCategory($0, within: parent) ?? false }
        })
      && (options.search.map { found($0, in: record) } ?? true)
      && (options.types.isEmpty || options.types.contains(record.type ?? "file"))
      && (options.providers.isEmpty || options.providers.contains(record.provider ?? ""))
      && (options.ids.isEmpty || options.ids.contains(record.id))
  }
}

extension ListCommand {
  private func found(_ text: String, in record: ContentRecord) -> Bool {
    let wanted = text.lowercased()
    let texts =
      [record.shownURL, record.id, record.provider ?? "", record.caption.title ?? ""]
      + record.categories
      + (record.caption.info.flatMap { JSONValue(text: $0) }?.texts ?? [])
    return texts.contains { $0.lowercased().contains(wanted) }
  }
}

private final class ItemPrinter {
  private let console: Console
  private let bodies: BodyPaths
  private let uses: [String: Instant]
  private let grants: GrantedLifetimes
  private let progress: [String: ItemProgress]
  private(set) var hasBegun = false

  init(
    console: Console,
    bodies: BodyPaths,
    uses: [String: Instant],
    grants: GrantedLifetimes,
    progress: [String: ItemProgress]
  ) {
    self.console = console
    self.bodies = bodies
    self.uses = uses
    self.grants = grants
    self.progress = progress
  }

  /// Prints `STATE <TAB> BYTES <TAB> SEGMENTS <TAB> URL`, readable and fit for `cut`.
  func printLine(_ item: StoredItem) {
    let segments = item.segments.isEmpty ? "-" : item.segments.joined(separator: ",")
    let size = item.size.map { String($0) } ?? "-"
    console.print(
      "\(item.state.rawValue)\t\(size)\t\(SafeText.line(segments))\t\(SafeText.line(Redaction.url(item.shownURL)))"
    )
  }

  func print(
    _ item: StoredItem,
    _ record: ContentRecord,
    isDocument: Bool,
    reason: String? = nil
  ) {
    guard isDocument else { return printLine(item) }
    console.print(chunk: hasBegun ? ",\n    " : "\(Self.head)\n    ")
    hasBegun = true
    let cached = CachedItem(
      record: record,
      segments: item.segments,
      isLocked: item.isLocked,
      usedAt: uses[RememberedURL.name(of: record.url)],
      granted: grants.of(item.segments),
      reason: reason,
      progress: progress[record.url]
    )
    let document = cached.json(bodies: bodies).masked(needles: console.needles)
    let bytes = JSONWriter.bytes(document, form: .pretty, level: 2)
    console.print(chunk: String(decoding: bytes, as: UTF8.self))
  }

  func endDocument() {
    console.print(chunk: hasBegun ? "\n  ]\n}\n" : "\(Self.head)]\n}\n")
  }

  private static let head = "{\n  \"schema\": \"prefetch-list/1\",\n  \"items\": ["
}
