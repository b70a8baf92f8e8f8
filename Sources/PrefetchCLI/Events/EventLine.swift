import PrefetchCore
import PrefetchDocuments

/// Facts as the events that scripts follow, one JSON object a line.
enum EventLine {
  /// None for facts that are nobody's event; several for one that changes several things.
  static func values(
    _ fact: RunFact,
    run: String,
    at time: Instant,
    secrets: SecretNeedles = []
  ) -> [JSONValue] {
    let text = { JSONValue.string(Redaction.masked($0, needles: secrets)) }
    return switch fact {
    case .itemSettled(let item):
      [settled(item, run, time, text)].compactMap(\.self) + departed(item, run, time, text)
    case .itemEvicted(let item, _):
      departed(item, run, time, text)
    default:
      [value(fact, run, time, text)].compactMap(\.self)
    }
  }

  private static func value(
    _ fact: RunFact,
    _ run: String,
    _ time: Instant,
    _ text: (String) -> JSONValue
  ) -> JSONValue? {
    switch fact {
    case .itemsDiscovered(let segment, let count):
      line(
        "items.discovered",
        run,
        time,
        [("segment", text(segment)), ("count", .integer(Int64(count)))]
      )
    case .itemsStarted(let segment, let urls):
      line(
        "items.started",
        run,
        time,
        [
          ("segment", text(segment)), ("count", .integer(Int64(urls.count))),
          ("urls", .array(urls.map { text($0.redacted) })),
        ]
      )
    case .segmentSettled(let segment):
      line(
        "segment.done",
        run,
        time,
        [("segment", text(segment.name)), ("state", .string(segment.state.rawValue))]
      )
    case .registration(let news):
      registration(news, run, time)
    case .qualityChanged(let quality):
      line("network.quality", run, time, [("quality", .string(quality.rawValue))])
    case .itemSettled, .itemEvicted, .conditionsRead, .itemsKept, .itemsConfirmed, .itemsArrived,
      .itemShared, .bytesReceived,
      .requestFinished, .requestsAnswered, .requestTold, .requestWaits, .manifestSettled,
      .treePublished, .interrupted, .storeFailed:
      nil
    }
  }

  static func line(
    _ name: String,
    _ run: String,
    _ time: Instant,
    _ members: [(String, JSONValue)]
  ) -> JSONValue {
    .object([("event", .string(name)), ("time", .time(time)), ("run", .string(run))] + members)
  }

  private static func registration(
    _ news: RegistrationNews,
    _ run: String,
    _ time: Instant
  ) -> JSONValue {
    switch news {
    case .ok(let isFirst):
      line("registration.ok", run, time, [("first", .bool(isFirst))])
    case .failed(let code, let retryAt):
      line(
        "registration.failed",
        run,
        time,
        [("code", .string(code.rawValue)), ("retry_at", .time(retryAt))]
      )
    case .lost(let code):
      line("registration.lost", run, time, [("code", .optional(code?.rawValue))])
    }
  }

  private static func settled(
    _ item: ItemResult,
    _ run: String,
    _ time: Instant,
    _ text: (String) -> JSONValue
  ) -> JSONValue? {
    let about = about(item, text)
    switch item.outcome {
    case .added:
      return line("cache.added", run, time, about + [("bytes", .optional(item.size))])
    case .updated:
      return line(
        "cache.updated",
        run,
        time,
        about + [("bytes", .optional(item.size)), ("changed", ["headers", "body"])]
      )
    case .headers:
      return line(
        "cache.updated",
        run,
        time,
        about + [("bytes", .optional(item.size)), ("changed", ["headers"])]
      )
    case .failed, .redirected:
      let code = item.failure.map { JSONValue.string($0.code.rawValue) } ?? .null
      return line("items.failed", run, time, about + [("code", code)])
    case .removed, .unchanged, .stale, .deferred, .empty, nil:
      return nil
    }
  }

  /// Its body is gone, which the cache tells of, and the item is not at hand any more.
  private static func departed(
    _ item: ItemResult,
    _ run: String,
    _ time: Instant,
    _ text: (String) -> JSONValue
  ) -> [JSONValue] {
    guard let departure = item.departure else { return [] }
    let reason = ("reason", JSONValue.string(departure.rawValue))
    let about = about(item, text)
    return [
      line("cache.removed", run, time, about + [reason]),
      line("items.evicted", run, time, about + [("bytes", .integer(item.size ?? 0)), reason]),
    ]
  }

  private static func about(
    _ item: ItemResult,
    _ text: (String) -> JSONValue
  ) -> [(String, JSONValue)] {
    [
      ("url", text(Redaction.url(item.url))), ("id", text(item.id)),
      ("segments", .array(item.segments.map(text))),
    ]
  }
}
