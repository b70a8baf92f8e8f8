import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore

/// `list`: what the cache knows of items, printed while it is read.
struct ListCommand {
  let context: CommandContext
  let options: ListOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    if options.listsIdentities { return try IdentityList(context: context, places: places).run() }
    let uses = try readUses(places)
    let store = try context.readingStore(places)
    let printer = ItemPrinter(
      console: context.console,
      cache: places.cache,
      uses: uses,
      grants: GrantedLifetimes(loaded.configuration)
    )
    do throws(Failure) {
      if let store { try list(store, printer, uses) }
    } catch {
      guard printer.hasBegun else { throw context.storeFailed(error) }
      // A document that was begun cannot become another that says why it ended.
      context.console.report(Diagnostic("store.\(error.code.rawValue)", error.message))
      return ExitStatus.io.code
    }
    if context.shared.isJSON { printer.endDocument() }
    return ExitStatus.ok.code
  }

  private func readUses(_ places: Places) throws(CommandExit) -> [String: Instant] {
    guard context.shared.isJSON || options.sortKeys.contains(where: { $0.field == .used }) else {
      return [:]
    }
    guard let state = try context.readingState(places) else { return [:] }
    return try context.reading { () throws(Failure) in try state.uses() }
  }

  private func list(
    _ store: DiskStore,
    _ printer: ItemPrinter,
    _ uses: [String: Instant]
  ) throws(Failure) {
    let needsRecords =
      context.shared.isJSON || !options.types.isEmpty || !options.providers.isEmpty
      || !options.ids.isEmpty
    let sorting = options.sortKeys.map { ItemSorting($0.field, isDescending: $0.isDescending) }
    try store.forEachItem(sorted: sorting, uses: uses) { item throws(Failure) in
      guard matches(item) else { return true }
      guard needsRecords else {
        printer.printLine(item)
        return !context.console.isClosed
      }
      guard let record = try store.record(item: item.item), matches(record) else { return true }
      if context.shared.isJSON {
        printer.printElement(item, record)
      } else {
        printer.printLine(item)
      }
      return !context.console.isClosed
    }
  }

  private func matches(_ item: StoredItem) -> Bool {
    (options.segments.isEmpty
      || options.segments.contains { pattern in item.segments.contains { Glob.matches(pattern, $0) }
      })
      && (options.states.isEmpty || options.states.contains(item.state))
      && (options.urlGlobs.isEmpty || options.urlGlobs.contains { Glob.matches($0, item.url) })
      && (!options.isLockedOnly || item.isLocked)
  }

  private func matches(_ record: ContentRecord) -> Bool {
    (options.types.isEmpty || options.types.contains(record.type ?? "file"))
      && (options.providers.isEmpty || options.providers.contains(record.provider ?? ""))
      && (options.ids.isEmpty || options.ids.contains(record.id))
  }
}

/// Items on standard output, one after another: as lines, or as elements of one document.
private final class ItemPrinter {
  private let console: Console
  private let cache: String
  private let uses: [String: Instant]
  private let grants: GrantedLifetimes
  private(set) var hasBegun = false

  init(console: Console, cache: String, uses: [String: Instant], grants: GrantedLifetimes) {
    self.console = console
    self.cache = cache
    self.uses = uses
    self.grants = grants
  }

  /// `STATE <TAB> BYTES <TAB> SEGMENTS <TAB> URL`, for people and for `cut`.
  func printLine(_ item: StoredItem) {
    let segments = item.segments.isEmpty ? "-" : item.segments.joined(separator: ",")
    let size = item.size.map { String($0) } ?? "-"
    console.print(
      "\(item.state.rawValue)\t\(size)\t\(SafeText.line(segments))\t\(SafeText.line(item.url))"
    )
  }

  func printElement(_ item: StoredItem, _ record: ContentRecord) {
    console.print(piece: hasBegun ? ",\n    " : "\(Self.head)\n    ")
    hasBegun = true
    let cached = CachedItem(
      record: record,
      segments: item.segments,
      isLocked: item.isLocked,
      usedAt: uses[record.url],
      granted: grants.of(item.segments)
    )
    let bytes = JSONWriter.bytes(cached.json(cache: cache), form: .pretty, level: 2)
    console.print(piece: String(decoding: bytes, as: UTF8.self))
  }

  func endDocument() {
    console.print(piece: hasBegun ? "\n  ]\n}\n" : "\(Self.head)]\n}\n")
  }

  private static let head = "{\n  \"schema\": \"prefetch-list/1\",\n  \"items\": ["
}
