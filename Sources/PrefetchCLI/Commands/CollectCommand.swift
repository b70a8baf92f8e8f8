import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `gc`: applies limits, and removes orphans and the content of vanished configurations.
struct CollectCommand: Command {
  let context: CommandContext
  let options: CollectOptions

  private struct Outcome {
    var forgotten: [String] = []
    var removed: [RemovedContent] = []
    var orphans = 0
    /// Bytes over `cache.size`, and bytes missing to `cache.min_free`, that no eviction may free.
    var excess: Int64 = 0
    var shortage: Int64 = 0
    var totals = StoreTotals()
    /// Bodies that active runs may depend on.
    var waiting = 0

    var freed: Int64 {
      removed.reduce(0) { $0 + ($1.hadBody ? $1.size : 0) }
    }
  }

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let hasCache = try context.reading { () throws(Failure) in
      try DiskStore.exists(at: locations.cache)
    }
    if !hasCache { context.report(try context.presence(loaded, locations, nil), locations) }
    let foreseen = try context.reading { () throws(Failure) -> Outcome? in
      let store = try DiskStore.openForReading(
        cache: locations.cache,
        below: locations.lower,
        clockStart: now
      )
      // `gc` does not create a missing cache.
      guard let store else { return Outcome() }
      return options.isDryRun ? try foresee(store, loaded, locations) : nil
    }
    // The reader is closed by now: a process cannot hold a store open for reading and for writing.
    let outcome = if let foreseen { foreseen } else { try collect(locations, loaded) }
    warn(outcome)
    if context.shared.isJSON {
      print(outcome, locations)
    } else if !context.shared.isQuiet {
      if options.isDryRun {
        for content in outcome.removed { context.console.print(line(content)) }
      }
      context.console.print(text(outcome))
    }
    return ExitStatus.ok.code
  }

  private var now: Instant { context.clock.now().wall }

  // MARK: Work

  private func collect(
    _ locations: CacheLocations,
    _ loaded: LoadedConfiguration
  ) throws(CommandExit) -> Outcome {
    let durability = loaded.configuration.cache.durability
    return try context.changingStore(locations, durability: durability) { store throws(Failure) in
      var reports: [Diagnostic] = []
      let state = try StateStore.openForReading(state: locations.state, reports: &reports)
      store.orderRoom { state }
      var outcome = Outcome()
      for key in try store.segments().map(\.key) where isForgotten(key.identity) {
        if !outcome.forgotten.contains(key.identity) { outcome.forgotten.append(key.identity) }
        outcome.removed += try store.commit([.forget(key)])
      }
      outcome.removed += try store.removeUnheld()
      outcome.removed += try store.removeExpired()
      try applyLimits(to: store, loaded, &outcome)
      outcome.orphans = try store.removeOrphans()
      outcome.totals = try store.totals()
      try store.finishRun()
      outcome.waiting = try store.waitingObjects()
      return outcome
    }
  }

  private func foresee(
    _ store: DiskStore,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(Failure) -> Outcome {
    var reports: [Diagnostic] = []
    var outcome = Outcome()
    let inventory = try store.readInventory()
    var isForgotten: [Bool] = []
    for key in inventory.segmentKeys { isForgotten.append(self.isForgotten(key.identity)) }
    for key in try store.segments().map(\.key) where self.isForgotten(key.identity) {
      if !outcome.forgotten.contains(key.identity) { outcome.forgotten.append(key.identity) }
    }
    var leftBytes: Int64 = 0
    let others = Set(try store.unheldItems() + store.expiredItems())
    for (position, row) in inventory.rows.enumerated() where !row.isLocked {
      let holders = inventory.holders(of: position)
      let isLeft = !holders.isEmpty && holders.allSatisfy { isForgotten[$0] }
      guard isLeft || others.contains(row.item), let record = try store.record(item: row.item)
      else { continue }
      var content = RemovedContent(url: record.url, id: record.id, size: row.size)
      content.hadBody = row.hasBody
      outcome.removed.append(content)
      if isLeft, row.hasBody { leftBytes += row.size }
    }
    let rules = loaded.configuration.policy.room
    var known = Set(outcome.removed.map(\.url))
    let state = try StateStore.openForReading(state: locations.state, reports: &reports)
    store.orderRoom { state }
    let evicted = Set(try evictions(store, loaded, adding: leftBytes))
    for row in inventory.rows where row.hasBody && evicted.contains(row.digest) {
      guard let record = try store.record(item: row.item), known.insert(record.url).inserted
      else { continue }
      var content = RemovedContent(url: record.url, id: record.id, size: row.size)
      content.hadBody = true
      outcome.removed.append(content)
    }
    let used = try store.usedBytes() - outcome.freed
    outcome.excess = max(0, used - (rules.limit ?? .max))
    outcome.shortage = max(0, try shortage(store, rules) - outcome.freed)
    outcome.totals = try store.totals()
    outcome.totals.bytes -= outcome.freed
    outcome.totals.objects -= outcome.removed.count(where: \.hadBody)
    return outcome
  }

  /// Evicts declared content for `cache.size`, from the end of its order; for free disk space, only
  /// content that no segment holds, since the next run would fetch the rest again.
  private func applyLimits(
    to store: DiskStore,
    _ loaded: LoadedConfiguration,
    _ outcome: inout Outcome
  ) throws(Failure) {
    let rules = loaded.configuration.policy.room
    let digests = try evictions(store, loaded)
    guard !digests.isEmpty else {
      outcome.excess = max(0, try store.usedBytes() - (rules.limit ?? .max))
      outcome.shortage = try shortage(store, rules)
      return
    }
    outcome.removed += try store.commit([
      .evict(digests, for: loaded.identity, because: Self.failure(under: rules))
    ])
    outcome.excess = max(0, try store.usedBytes() - (rules.limit ?? .max))
    outcome.shortage = try shortage(store, rules)
  }

  private func evictions(
    _ store: DiskStore,
    _ loaded: LoadedConfiguration,
    adding freed: Int64 = 0
  ) throws(Failure) -> [ContentDigest] {
    let rules = loaded.configuration.policy.room
    let limit = rules.limit.map { $0.addingSaturated(freed) }
    let missing = try shortage(store, rules) - freed
    let used = try store.usedBytes()
    guard missing > 0 || limit.map({ used > $0 }) ?? false else { return [] }
    let stock = try store.readStock()
    let order = try contentOrder(loaded, try store.segments(), store, rules)
    var room = Room(limit: limit, stock: stock) { order.rank(of: $0, in: stock) }
    room.shrink()
    let rest = missing - (stock.used - room.used)
    _ = room.free(rest, for: .undeclared, acceptsLess: true)
    return room.drainEvicted(keepingWhatFits: rest <= 0)
  }

  private static func failure(under rules: Room.Rules) -> Failure? {
    rules.limit.map {
      Failure(
        .cacheFull,
        "evicted: more important items use the \(SizeText.format(limit: $0)) of `cache.size`"
      )
    }
  }

  private func shortage(_ store: DiskStore, _ rules: Room.Rules) throws(Failure) -> Int64 {
    guard rules.minimumFree != 0, let disk = try store.diskSpace() else { return 0 }
    return max(0, rules.minimumFree(of: disk.size) - disk.free)
  }

  /// Returns the order by stored lists; without a readable list a segment's content is declared.
  private func contentOrder(
    _ loaded: LoadedConfiguration,
    _ recorded: [SegmentRecord],
    _ store: DiskStore,
    _ rules: Room.Rules
  ) throws(Failure) -> ContentOrder {
    var order = ContentOrder(
      identity: loaded.identity,
      rules: rules,
      recorded: recorded,
      now: try store.expiryTime()
    )
    let builder = context.builder(loaded)
    for (position, configured) in loaded.configuration.segments.enumerated() {
      let segment = builder.declaration(configured)
      let record = recorded.first {
        $0.key == SegmentKey(identity: loaded.identity, name: segment.name)
      }
      let manifest = DeclaredItems.whole(
        segment,
        record,
        in: store,
        limit: builder.policy.maximumManifestSize
      )
      var entries: Shared<EntryTable>?
      if case .success(let manifest) = manifest {
        entries = Shared(ManifestSelection(segment.manifestRules).apply(to: manifest.entries))
      }
      order.segments[segment.name] = ContentOrder.Segment(
        priority: segment.priority ?? record?.priority,
        position: 2 * position + 1,
        entries: segment.isStored ? entries : nil
      )
    }
    return order
  }

  private func isForgotten(_ identity: String) -> Bool {
    if options.forgottenIdentities.contains(identity) { return true }
    guard identity.hasPrefix("/"), let slash = identity.lastIndex(of: "/") else { return false }
    let folder = slash == identity.startIndex ? "/" : String(identity[..<slash])
    return FileReading.realPath(identity) == nil && FileReading.realPath(folder) != nil
  }

  // MARK: Words

  private func warn(_ outcome: Outcome) {
    for identity in options.forgottenIdentities where !outcome.forgotten.contains(identity) {
      context.console.report(
        Diagnostic(
          "gc.unknown",
          "the cache has nothing of `\(SafeText.line(identity))`",
          severity: .warning,
          hint: "`prefetch list --identities` shows whose content it has"
        )
      )
    }
    guard !options.isDryRun else { return }
    var messages: [String] = []
    if outcome.excess > 0 {
      messages.append(
        "the cache still takes \(Amounts.bytes(outcome.excess)) more than `cache.size`: "
          + "the rest is locked or belongs to another configuration"
      )
    }
    if outcome.shortage > 0 {
      messages.append(
        "\(Amounts.bytes(outcome.shortage)) are missing to what `cache.min_free` keeps free, "
          + "and nothing else may be evicted"
      )
    }
    context.console.report(
      messages.map { Diagnostic("cache.over-limit", $0, severity: .warning) }
    )
  }

  private func line(_ content: RemovedContent) -> String {
    let size = content.hadBody ? Amounts.bytes(content.size) : "no body"
    let padding = String(repeating: " ", count: max(0, 8 - size.count))
    let url = SafeText.line((try? WebURL(content.url))?.redacted ?? content.url)
    return "  drops      \(size)\(padding) \(url)"
  }

  private func text(_ outcome: Outcome) -> String {
    let isDryRun = options.isDryRun
    var parts = [
      "\(Amounts.count(Int64(outcome.removed.count), "item")) \(isDryRun ? "would be " : "")dropped, "
        + Amounts.bytes(outcome.freed)
    ]
    if isDryRun {
      let more = max(outcome.excess, outcome.shortage)
      if more > 0 { parts.append("\(Amounts.bytes(more)) more to keep the limits") }
    } else {
      parts.append(Amounts.count(Int64(outcome.orphans), "orphan"))
    }
    if outcome.waiting > 0 {
      parts.append(
        "\(Amounts.count(Int64(outcome.waiting), "body", "bodies")) left until the current runs have ended"
      )
    }
    parts.append(
      "\(Amounts.count(Int64(outcome.totals.objects), "object")) left, "
        + Amounts.bytes(outcome.totals.bytes)
    )
    for identity in outcome.forgotten {
      parts.append("\(isDryRun ? "would forget" : "forgot") \(SafeText.line(identity))")
    }
    return parts.joined(separator: "; ")
  }

  private func print(_ outcome: Outcome, _ locations: CacheLocations) {
    context.console.print([
      "schema": "prefetch-gc/1",
      "forgotten": .strings(outcome.forgotten),
      "items": .integer(Int64(outcome.removed.count)),
      "drops": options.isDryRun
        ? .array(
          outcome.removed.map { content in
            [
              "url": .string((try? WebURL(content.url))?.redacted ?? content.url),
              "bytes": .integer(content.hadBody ? content.size : 0),
            ]
          }
        ) : .null,
      "bytes": .integer(outcome.freed),
      "orphans": .integer(Int64(outcome.orphans)),
      "waiting": .integer(Int64(outcome.waiting)),
      "dry_run": .bool(options.isDryRun),
      "over_limit": .bool(outcome.excess > 0 || outcome.shortage > 0),
      "cache": [
        "dir": .string(locations.cache),
        "bytes": .integer(outcome.totals.bytes),
        "objects": .integer(Int64(outcome.totals.objects)),
      ],
    ])
  }
}
