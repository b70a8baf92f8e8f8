import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// States of declared items without a body, which have no rows: a million of them cost no writes.
struct DeclaredStates {
  struct Item {
    var segments: [String]
    var entry: ManifestEntry
    var state: ItemState
    var reason: String
  }

  struct Group {
    var id: String
    var name: String?
    var parent: String?
    var isOn: Bool
    var items = 0
    var stored = 0
  }

  private(set) var items: [Item] = []
  private(set) var indexByURL: [String: Int] = [:]
  private var counted: Set<URLKey> = []
  /// Number of items by segment and state, stored ones included.
  private(set) var counts: [String: [ItemState: Int]] = [:]
  private(set) var sources: [String: Group] = [:]
  private(set) var categories: [String: Group] = [:]

  private let configuration: Configuration
  private let inventory: Inventory
  private let collects: Bool
  private let parts: Set<String>
  private let progress: [String: ItemProgress]
  /// Rows of the inventory with some of their files.
  private let begun: Set<Int>
  private let isRunning: Bool

  init(
    _ context: CommandContext,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?,
    collects: Bool = true
  ) throws(CommandExit) {
    configuration = loaded.configuration
    self.collects = collects
    inventory = try context.reading { () throws(Failure) in
      try store?.readInventory() ?? Inventory()
    }
    let builder = context.builder(loaded)
    let now = context.clock.now().wall
    let state = try context.readingState(locations)
    isRunning = (try? RunLock.isHeld(cache: locations.cache, identity: loaded.identity)) ?? false
    let (recorded, deferrals, parts) = try context.reading { () throws(Failure) in
      (
        try store?.segments() ?? [], try state?.deferrals(of: loaded.identity) ?? [:],
        Set((try store?.partials() ?? [:]).keys)
      )
    }
    self.parts = parts
    progress = ItemProgress.byURL(inCache: locations.cache)
    begun = Set(inventory.files.map(\.row))
    let subscribed = try context.reading { () throws(Failure) in
      loaded.files.isEmpty
        ? []
        : try Subscriptions.resolve(loaded, state: state, cache: locations.cache, mayWrite: false)
          .segments
    }
    for segment in subscribed {
      let key = SegmentKey(identity: loaded.identity, name: segment.name)
      let record = recorded.first { $0.key == key }
      let deferral = deferrals[segment.name].flatMap { deferral in
        deferral.until.map { now < $0 } ?? true ? deferral : nil
      }
      let declaration = builder.declaration(segment)
      guard
        case .success(let manifest) = DeclaredItems.whole(
          declaration,
          record,
          in: store,
          limit: builder.policy.maximumManifestSize
        )
      else { continue }
      add(manifest, of: declaration, isKnown: record != nil, deferral, now)
    }
  }

  private mutating func add(
    _ manifest: Manifest,
    of segment: SegmentDeclaration,
    isKnown: Bool,
    _ deferral: Deferral?,
    _ now: Instant
  ) {
    let selection = ManifestSelection(segment.manifestRules)
    let parents = manifest.entries.categoryParents
    for name in manifest.catalogue.sources {
      addSource(name.id, name.name)
    }
    for name in manifest.catalogue.categories {
      addCategory(name.id, name.name, selection, parents)
    }
    let entries = selection.apply(to: manifest.entries)
    for position in entries.indices {
      let special = entries.hasExtras(at: position) ? entries[position] : nil
      if let expires = special?.expires, expires <= now { continue }
      let storedPosition = inventory.position(of: entries.key(at: position))
      let row = storedPosition.map { inventory.rows[$0] }
      let isStored = row?.hasBody ?? false
      if special?.isThumbnail != true, counted.insert(entries.key(at: position)).inserted {
        count(special, entries.provider(at: position), isStored: isStored, selection, parents)
      }
      // A row states itself that it is paused or failed.
      if let row, isStored || row.state == .paused || row.state == .failed {
        counts[segment.name, default: [:]][row.state, default: 0] += 1
        continue
      }
      let (state, reason) = stateAndReason(
        of: special,
        hasBegun: storedPosition.map(begun.contains) ?? false
          || !parts.isEmpty && parts.contains(entries.url(at: position)),
        isInFlight: !progress.isEmpty && progress[entries.url(at: position)] != nil,
        in: segment,
        isKnown: isKnown,
        deferral
      )
      counts[segment.name, default: [:]][state, default: 0] += 1
      guard collects else { continue }
      let entry = special ?? entries[position]
      if let known = indexByURL[entry.recordURL] {
        items[known].segments.append(segment.name)
        // A segment that takes the item outweighs one that leaves it out.
        guard items[known].state == .discovered, state != .discovered else { continue }
        items[known].state = state
        items[known].reason = reason
        continue
      }
      indexByURL[entry.recordURL] = items.count
      items.append(Item(segments: [segment.name], entry: entry, state: state, reason: reason))
    }
  }

  private func stateAndReason(
    of entry: ManifestEntry?,
    hasBegun: Bool,
    isInFlight: Bool,
    in segment: SegmentDeclaration,
    isKnown: Bool,
    _ deferral: Deferral?
  ) -> (ItemState, String) {
    if isInFlight { return (.downloading, "a run is in progress") }
    let behavior = entry?.behavior ?? segment.manifestRules.behavior
    let isWithheld = behavior.withholds(isThumbnail: entry?.isThumbnail ?? false)
    if isWithheld { return (.discovered, "its `behavior` leaves it to `get`") }
    if hasBegun, isRunning { return (.downloading, "a run is in progress") }
    if let deferral {
      return (.idle, deferral.text())
    }
    if hasBegun { return (.idle, "interrupted; the next run continues it") }
    return isKnown
      ? (.queued, isRunning ? "a run is in progress" : "the next run fetches it")
      : (.pending, "no run has looked at it yet")
  }

  private mutating func count(
    _ entry: ManifestEntry?,
    _ provider: String?,
    isStored: Bool,
    _ selection: ManifestSelection,
    _ parents: [String: String]
  ) {
    if let provider {
      addSource(provider)
      sources[provider]?.items += 1
      if isStored { sources[provider]?.stored += 1 }
    }
    for category in entry?.categories ?? [] {
      addCategory(category, nil, selection, parents)
      categories[category]?.items += 1
      if isStored { categories[category]?.stored += 1 }
    }
  }

  private mutating func addSource(_ id: String, _ name: String? = nil) {
    if sources[id] == nil {
      sources[id] = Group(id: id, isOn: configuration.download.sources[id] ?? true)
    }
    if let name { sources[id]?.name = name }
  }

  private mutating func addCategory(
    _ id: String,
    _ name: String?,
    _ selection: ManifestSelection,
    _ parents: [String: String]
  ) {
    if categories[id] == nil {
      categories[id] = Group(id: id, parent: parents[id], isOn: selection.isOn(id, parents))
    }
    if let name { categories[id]?.name = name }
  }

  static func document(_ groups: [String: Group]) -> JSONValue {
    .array(
      groups.values.sorted { $0.id < $1.id }.map { group in
        [
          "id": .string(group.id), "name": .optional(group.name),
          "parent": .optional(group.parent), "on": .bool(group.isOn),
          "items": .integer(Int64(group.items)), "stored": .integer(Int64(group.stored)),
        ]
      }
    )
  }

  func isCategory(_ id: String, within other: String) -> Bool {
    var name = id
    for _ in 0..<32 {
      guard let parent = categories[name]?.parent else { return false }
      if parent == other { return true }
      name = parent
    }
    return false
  }
}
