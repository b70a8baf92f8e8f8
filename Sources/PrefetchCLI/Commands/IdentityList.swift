import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `list --identities`: who uses the cache, and what for.
struct IdentityList {
  let context: CommandContext
  let places: Places

  private struct Identity {
    var segments = 0
    var items = 0
    var bytes: Int64 = 0
    var lastRun: Instant?
  }

  func run() throws(CommandExit) -> Int32 {
    let identities = try gather()
    context.console.print(
      [
        "schema": "prefetch-identities/1",
        "identities": .array(identities.map { json($0.name, $0.identity) }),
      ],
      orLines: identities.map { line($0.name, $0.identity) }
    )
    return ExitStatus.ok.code
  }

  private func gather() throws(CommandExit) -> [(name: String, identity: Identity)] {
    guard let store = try context.readingStore(places) else { return [] }
    return try context.reading { () throws(Failure) in
      var identities: [String: Identity] = [:]
      let totals = try store.summary().segments
      for segment in try store.segments() {
        var identity = identities[segment.key.identity] ?? Identity()
        identity.segments += 1
        identity.items += totals[segment.key]?.items ?? 0
        identity.bytes += totals[segment.key]?.bytes ?? 0
        identity.lastRun = [identity.lastRun, segment.lastChecked, segment.lastSuccess]
          .compactMap(\.self).max()
        identities[segment.key.identity] = identity
      }
      return identities.sorted { $0.key < $1.key }.map { (name: $0.key, identity: $0.value) }
    }
  }

  /// `ITEMS <TAB> BYTES <TAB> LAST RUN <TAB> IDENTITY`, for people and for `cut`.
  private func line(_ name: String, _ identity: Identity) -> String {
    let last = identity.lastRun.map { Timestamp.format($0) } ?? "-"
    let gone = isGone(name) ? "\tgone" : ""
    return "\(identity.items)\t\(identity.bytes)\t\(last)\t\(SafeText.line(name))\(gone)"
  }

  private func json(_ name: String, _ identity: Identity) -> JSONValue {
    [
      "identity": .string(name),
      "segments": .integer(Int64(identity.segments)),
      "items": .integer(Int64(identity.items)),
      "bytes": .integer(identity.bytes),
      "last_run": .time(identity.lastRun),
      "gone": .bool(isGone(name)),
    ]
  }

  /// Of one that is told by its file.
  private func isGone(_ name: String) -> Bool {
    name.hasPrefix("/") && FileReading.realPath(name) == nil
  }
}
