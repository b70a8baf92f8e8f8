import PrefetchCore
import PrefetchDocuments

/// Converts facts of a run to events for scripts, one JSON object a line.
struct EventLine {
  let run: String
  let time: Instant
  var secrets: SecretNeedles = []
  var changed: Set<String> = []

  func values(_ fact: RunFact) -> [JSONValue] {
    switch fact {
    case .itemSettled(let item): [settled(item)].compactMap(\.self) + departed(item)
    case .itemEvicted(let item, _): departed(item)
    default: [value(fact)].compactMap(\.self)
    }
  }

  private func value(_ fact: RunFact) -> JSONValue? {
    switch fact {
    case .itemsDiscovered(let segment, let count):
      line("items.discovered", [("segment", text(segment)), ("count", .integer(Int64(count)))])
    case .itemsStarted(let segment, let urls):
      line(
        "items.started",
        [
          ("segment", text(segment)), ("count", .integer(Int64(urls.count))),
          ("urls", .array(urls.map { text($0.redacted) })),
        ]
      )
    case .segmentSettled(let segment):
      line(
        "segment.done",
        [
          ("segment", text(segment.name)), ("state", .string(segment.state.rawValue)),
          ("changed", .bool(segment.isLeft || changed.contains(segment.name))),
        ]
      )
    case .treePublished(let segment, let tree):
      tree.hasChanged
        ? line(
          "published",
          [
            ("segment", text(segment)), ("dir", text(tree.folder)),
            ("generation", .optional(tree.generation)),
          ]
        ) : nil
    case .registration(let news): registration(news)
    case .qualityChanged(let quality):
      line("network.quality", [("quality", .string(quality.rawValue))])
    case .itemSettled, .itemEvicted, .conditionsRead, .itemsKept, .itemsConfirmed, .itemsArrived,
      .itemsRetained, .itemRetained,
      .itemShared, .bytesReceived,
      .requestFinished, .requestsCounted, .requestTraced, .requestWaits, .manifestSettled,
      .listRead, .interrupted, .storeFailed, .warned:
      nil
    }
  }

  func line(_ name: String, _ members: [(String, JSONValue)]) -> JSONValue {
    .object([("event", .string(name)), ("time", .time(time)), ("run", .string(run))] + members)
  }

  func text(_ text: String) -> JSONValue {
    .string(Redaction.masked(text, needles: secrets))
  }

  private func registration(_ news: RegistrationNews) -> JSONValue {
    switch news {
    case .ok(let isFirst): line("registration.ok", [("first", .bool(isFirst))])
    case .failed(let code, let retryAt):
      line(
        "registration.failed",
        [("code", .string(code.rawValue)), ("retry_at", .time(retryAt))]
      )
    case .lost(let code): line("registration.lost", [("code", .optional(code?.rawValue))])
    }
  }

  private func settled(_ item: ItemResult) -> JSONValue? {
    let about = about(item)
    let bytes = ("bytes", JSONValue.optional(item.size))
    switch item.outcome {
    case .added: return line("cache.added", about + [bytes])
    case .updated: return line("cache.updated", about + [bytes, ("changed", ["headers", "body"])])
    case .headers: return line("cache.updated", about + [bytes, ("changed", ["headers"])])
    case .failed, .redirected:
      return line("items.failed", about + [("code", .optional(item.failure?.code.rawValue))])
    case .removed, .unchanged, .stale, .deferred, .empty, nil: return nil
    }
  }

  private func departed(_ item: ItemResult) -> [JSONValue] {
    guard let departure = item.departure else { return [] }
    let reason = ("reason", JSONValue.string(departure.rawValue))
    let about = about(item)
    return [
      line("cache.removed", about + [reason]),
      line("items.evicted", about + [("bytes", .integer(item.size ?? 0)), reason]),
    ]
  }

  private func about(_ item: ItemResult) -> [(String, JSONValue)] {
    [
      ("url", text(Redaction.url(item.url))), ("id", text(item.id)),
      ("segments", .array(item.segments.map(text))),
    ]
  }
}
