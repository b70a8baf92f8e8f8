import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// `list`: what the cache knows of items.
struct ListCommand {
  let context: CommandContext
  let options: ListOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let items = try read(places)
    if context.shared.isJSON {
      let values = items.map { $0.json(cache: places.cache) }
      context.console.print(["schema": "prefetch-list/1", "items": .array(values)])
      return ExitStatus.ok.code
    }
    for item in items {
      context.console.print(item.line)
      if context.console.isClosed { break }
    }
    return ExitStatus.ok.code
  }

  private func read(_ places: Places) throws(CommandExit) -> [CachedItem] {
    guard let store = try context.readingStore(places) else { return [] }
    let inventory = try context.reading { () throws(Failure) in try store.inventory() }
    let uses: [String: Instant] =
      try context.readingState(places).map { state throws(CommandExit) in
        try context.reading { () throws(Failure) in try state.uses() }
      } ?? [:]
    let items = inventory.records.indices.map { index in
      CachedItem(
        record: inventory.records[index],
        segments: inventory.holders[index].map { inventory.segmentKeys[$0].name },
        isLocked: inventory.locked.contains(inventory.records[index].url),
        usedAt: uses[inventory.records[index].url]
      )
    }
    return sorted(items.filter(matches))
  }

  private func matches(_ item: CachedItem) -> Bool {
    let record = item.record
    return
      (options.segments.isEmpty
      || options.segments.contains { pattern in item.segments.contains { Glob.matches(pattern, $0) }
      })
      && (options.states.isEmpty || options.states.contains(record.state))
      && (options.types.isEmpty || options.types.contains(record.type ?? "file"))
      && (options.providers.isEmpty || options.providers.contains(record.provider ?? ""))
      && (options.ids.isEmpty || options.ids.contains(record.id))
      && (options.urlGlobs.isEmpty || options.urlGlobs.contains { Glob.matches($0, record.url) })
      && (!options.isLockedOnly || item.isLocked)
  }

  private func sorted(_ items: [CachedItem]) -> [CachedItem] {
    guard !options.sortKeys.isEmpty else { return items }
    return items.sorted { a, b in
      for key in options.sortKeys {
        let (first, second) = key.isDescending ? (b, a) : (a, b)
        if first.precedes(second, by: key.field) { return true }
        if second.precedes(first, by: key.field) { return false }
      }
      return RecordInventory.precedes(a.record.url, b.record.url)
    }
  }
}

/// A record with what stands around it, as `list` and `explain` show it.
struct CachedItem {
  var record: ContentRecord
  var segments: [String]
  var isLocked: Bool
  var usedAt: Instant?

  /// `STATE <TAB> BYTES <TAB> SEGMENTS <TAB> URL`, for people and for `cut`.
  var line: String {
    let size = record.digest == nil ? "-" : String(record.size)
    let segments = segments.isEmpty ? "-" : segments.joined(separator: ",")
    return [record.state.rawValue, size, SafeText.line(segments), SafeText.line(record.url)].joined(
      separator: "\t"
    )
  }

  func json(cache: String) -> JSONValue {
    [
      "url": .string(record.url),
      "id": .string(record.id),
      "provider": .optional(record.provider),
      "segments": .strings(segments),
      "state": .string(record.state.rawValue),
      "type": .optional(record.type),
      "mime": .optional(record.mime),
      "size": record.digest == nil ? .null : .integer(record.size),
      "digest": .optional(record.digest?.description),
      "path": .optional(record.digest.map { DiskStore.objectPath($0, cache: cache) }),
      "headers": .headers(record.headers),
      "fetched_at": .time(record.fetchedAt),
      "validated_at": .time(record.validatedAt),
      "expires_at": .time(record.freshUntil),
      "used_at": .time(usedAt),
      "locked": .bool(isLocked),
    ]
  }

  func precedes(_ other: CachedItem, by field: SortKey.Field) -> Bool {
    switch field {
    case .name: Self.name(record.url) < Self.name(other.record.url)
    case .url: RecordInventory.precedes(record.url, other.record.url)
    case .id: record.id < other.record.id
    case .provider: record.provider ?? "" < other.record.provider ?? ""
    case .segment: segments.first ?? "" < other.segments.first ?? ""
    case .state: record.state.rawValue < other.record.state.rawValue
    case .type: record.type ?? "" < other.record.type ?? ""
    case .size: record.size < other.record.size
    case .fetched: Self.time(record.fetchedAt) < Self.time(other.record.fetchedAt)
    case .validated: Self.time(record.validatedAt) < Self.time(other.record.validatedAt)
    case .expires: Self.time(record.freshUntil) < Self.time(other.record.freshUntil)
    case .used: Self.time(usedAt) < Self.time(other.usedAt)
    }
  }

  private static func name(_ url: String) -> Substring {
    let path = url.prefix { $0 != "?" }
    return path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
  }

  private static func time(_ instant: Instant?) -> Int64 {
    instant?.milliseconds ?? .min
  }
}
