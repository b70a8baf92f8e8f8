import PrefetchCore
import PrefetchDocuments

extension AnalyticsEvent {
  init(
    new kind: Kind,
    _ name: String?,
    at instant: Instant,
    id: String = EventIdentifier.make(),
    _ details: [(String, JSONValue)] = []
  ) {
    self.init(
      id: id,
      kind: kind,
      name: name,
      at: instant,
      details: JSONWriter.string(.object(details))
    )
  }

  var document: JSONValue {
    .object(
      [
        ("id", .string(id)), ("kind", .string(kind.rawValue)), ("name", .optional(name)),
        ("time", .time(at)),
      ] + members
    )
  }

  var members: [(String, JSONValue)] {
    let node = DocumentReader.read(Array(details.utf8), source: "event", syntax: .json).node
    guard case .object(let members)? = node.map({ JSONValue($0) }) else { return [] }
    return members
  }
}

/// Makes ids of events; a collector recognises an event that is sent twice by its id.
enum EventIdentifier {
  static func make() -> String {
    [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    .joined()
  }
}

extension CacheTally.Figures {
  func events(at now: Instant, hiding needles: SecretNeedles) -> [AnalyticsEvent] {
    let counts = urls.map { (Optional($0.url), $0.count) } + [(nil, others)]
    let events = counts.flatMap { url, count in
      let shown = url.map { Redaction.masked(Redaction.url($0), needles: needles) }
      let kinds: [(AnalyticsEvent.Kind, Int64)] = [
        (.cacheFetch, count.fetches), (.cacheMiss, count.misses),
      ]
      return kinds.filter { $0.1 > 0 }.map { kind, number in
        AnalyticsEvent(
          new: kind,
          nil,
          at: now,
          [("url", .optional(shown)), ("count", .integer(number))]
        )
      }
    }
    return events
      + metrics.map {
        AnalyticsEvent(new: .metric, $0.name, at: now, [("count", .integer($0.count))])
      }
  }
}
