import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `list --identities`: lists the users of the cache and of the lower caches.
struct IdentityList {
  let context: CommandContext
  let locations: CacheLocations

  private struct Identity {
    let name: String
    let cache: String?
    var segments = 0
    var items = 0
    var bytes: Int64 = 0
    var lastRun: Instant?
  }

  func run() throws(CommandExit) -> Int32 {
    let identities = try gather()
    context.console.print(
      ["schema": "prefetch-identities/1", "identities": .array(identities.map(json))],
      orLines: identities.map(line)
    )
    return ExitStatus.ok.code
  }

  private func gather() throws(CommandExit) -> [Identity] {
    guard let store = try context.readingStore(locations) else { return [] }
    return try context.reading { () throws(Failure) in
      var identities = try gather(store, below: nil)
      for path in store.below {
        // Problems of the lower cache were reported when the store was opened.
        guard let lower = try? DiskStore.lower(at: path, clockStart: context.clock.now().wall)
        else { continue }
        identities += try gather(lower, below: path)
      }
      return identities
    }
  }

  private func gather(_ store: DiskStore, below cache: String?) throws(Failure) -> [Identity] {
    var identities: [String: Identity] = [:]
    let totals = try store.summary().segments
    for segment in try store.segments() {
      let name = segment.key.identity
      var identity = identities[name] ?? Identity(name: name, cache: cache)
      identity.segments += 1
      identity.items += totals[segment.key]?.items ?? 0
      identity.bytes += totals[segment.key]?.bytes ?? 0
      identity.lastRun = [identity.lastRun, segment.lastChecked, segment.lastSuccess]
        .compactMap(\.self).max()
      identities[name] = identity
    }
    return identities.values.sorted { $0.name < $1.name }
  }

  /// Returns `ITEMS <TAB> BYTES <TAB> LAST RUN <TAB> IDENTITY`, readable and fit for `cut`.
  private func line(_ identity: Identity) -> String {
    let last = identity.lastRun.map { Timestamp.format($0) } ?? "-"
    let remark =
      identity.cache.map { "\tin \(SafeText.line($0))" } ?? (isMissing(identity) ? "\tgone" : "")
    return "\(identity.items)\t\(identity.bytes)\t\(last)\t\(SafeText.line(identity.name))\(remark)"
  }

  private func json(_ identity: Identity) -> JSONValue {
    [
      "identity": .string(identity.name),
      "segments": .integer(Int64(identity.segments)),
      "items": .integer(Int64(identity.items)),
      "bytes": .integer(identity.bytes),
      "last_run": .time(identity.lastRun),
      "gone": .bool(isMissing(identity)),
      "lower": .optional(identity.cache),
    ]
  }

  /// Whether the identity's file is missing; a lower cache may come from another machine.
  private func isMissing(_ identity: Identity) -> Bool {
    identity.cache == nil && identity.name.hasPrefix("/")
      && FileReading.realPath(identity.name) == nil
  }
}
