import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `gc`: apply limits, drop orphans, drop what a vanished configuration left.
struct CollectCommand {
  let context: CommandContext
  let options: CollectOptions

  private struct Outcome {
    var forgotten: [String] = []
    var removed: [RemovedContent] = []
    var orphans = 0
    var standing = Room.Standing.enough
    var totals = StoreTotals()

    var freed: Int64 {
      removed.reduce(0) { $0 + ($1.hadBody ? $1.size : 0) }
    }
  }

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let outcome = try context.reading { () throws(Failure) -> Outcome? in
      // A cache that does not exist is not made in order to be tidied.
      guard try DiskStore.openForReading(cache: places.cache, clockStart: now) != nil else {
        return Outcome()
      }
      return try collect(places, loaded.configuration.cache)
    }
    guard let outcome else {
      return context.failLocked()
    }
    warn(outcome.standing)
    if context.shared.isJSON {
      print(outcome, places)
    } else if !context.shared.isQuiet {
      context.console.print(text(outcome))
    }
    return ExitStatus.ok.code
  }

  private var now: Instant { context.clock.now().wall }

  static func rules(_ cache: Cache) -> Eviction.Rules {
    var rules = Eviction.Rules()
    rules.limit = cache.size.amount
    rules.minimumFree = cache.minimumFree
    rules.isAutomatic = cache.purge.isAutomatic
    rules.order = cache.purge.order.map { kind in
      switch kind {
      case .expired: .expired
      case .consumed: .consumed
      case .lru: .leastRecentlyUsed
      }
    }
    return rules
  }

  // MARK: Work

  /// Nil when another run holds the lock.
  private func collect(
    _ places: Places,
    _ cache: Cache
  ) throws(Failure) -> Outcome? {
    guard let lock = try context.runLock(places, wait: options.wait) else { return nil }
    let store = try DiskStore.openForWriting(
      cache: places.cache,
      clockStart: now,
      durability: Durability(cache.durability)
    )
    var reports: [Diagnostic] = []
    let state = try StateStore.openForReading(state: places.state, reports: &reports)
    store.lastUses = { () throws(Failure) in try state?.uses() ?? [:] }
    var outcome = Outcome()
    for key in try store.segments().map(\.key) where isForgotten(key.identity) {
      if !outcome.forgotten.contains(key.identity) { outcome.forgotten.append(key.identity) }
      outcome.removed += try store.commit([.forget(key)])
    }
    outcome.removed += try store.removeUnheld()
    outcome.removed += try store.removeExpired()
    let room = try store.applyLimits(Self.rules(cache))
    outcome.removed += room.removed
    outcome.standing = room.standing
    outcome.orphans = try store.removeOrphans(holding: lock)
    outcome.totals = try store.totals()
    try store.finishRun(holding: lock)
    try store.close()
    context.console.report(store.takeDiagnostics())
    return outcome
  }

  /// Named by the user, or the path of a file that is gone from a folder that is still there.
  private func isForgotten(_ identity: String) -> Bool {
    if options.forgottenIdentities.contains(identity) { return true }
    guard identity.hasPrefix("/"), let slash = identity.lastIndex(of: "/") else { return false }
    let folder = slash == identity.startIndex ? "/" : String(identity[..<slash])
    return FileReading.realPath(identity) == nil && FileReading.realPath(folder) != nil
  }

  // MARK: Words

  private func warn(_ standing: Room.Standing) {
    let message: String? =
      switch standing {
      case .enough: nil
      case .cacheFull: "the cache still takes more than `cache.size`; the rest is locked"
      case .diskTooFull: "less than `cache.min_free` is free, and nothing more may go"
      }
    guard let message else { return }
    context.console.report(Diagnostic("cache.over-limit", message, severity: .warning))
  }

  private func text(_ outcome: Outcome) -> String {
    var parts = [
      "\(Amounts.count(Int64(outcome.removed.count), "item")) dropped, "
        + Amounts.bytes(outcome.freed),
      Amounts.count(Int64(outcome.orphans), "orphan"),
      "\(Amounts.count(Int64(outcome.totals.objects), "object")) left, "
        + Amounts.bytes(outcome.totals.bytes),
    ]
    for identity in outcome.forgotten { parts.append("forgot \(SafeText.line(identity))") }
    return parts.joined(separator: "; ")
  }

  private func print(_ outcome: Outcome, _ places: Places) {
    context.console.print([
      "schema": "prefetch-gc/1",
      "forgotten": .strings(outcome.forgotten),
      "items": .integer(Int64(outcome.removed.count)),
      "bytes": .integer(outcome.freed),
      "orphans": .integer(Int64(outcome.orphans)),
      "over_limit": .bool(outcome.standing != .enough),
      "cache": [
        "dir": .string(places.cache),
        "bytes": .integer(outcome.totals.bytes),
        "objects": .integer(Int64(outcome.totals.objects)),
      ],
    ])
  }
}
