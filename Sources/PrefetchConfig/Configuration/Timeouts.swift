import PrefetchCore
import PrefetchDocuments

/// How often and how patiently a request is repeated.
package struct Retries: Hashable, Sendable {
  package var items = 3
  package var lookups = 3
  package var lookupDelay: Duration?
  package var delay = Duration.seconds(1)
  package var maximumDelay = Duration.seconds(30)
  package var wait = Duration.seconds(120)
  package var statuses: [Int] = []

  static let table = ObjectType(Self(), name: "retries") {
    Field("items", \.items, .integer(0...100), "Further tries of a failed transfer")
    Field("lookups", \.lookups, .integer(0...100), "Further tries for a manifest")
    Field(
      "lookup_delay",
      \.lookupDelay,
      .duration,
      "Longest pause before the first further try for a manifest; `delay` where it is not set"
    )
    Field("delay", \.delay, .duration, "Longest pause before the first further try")
    Field("max_delay", \.maximumDelay, .duration, "Longest pause before any further try")
    Field("wait", \.wait, .duration, "Longest `Retry-After` to wait for within a run")
    Field(
      "statuses",
      \.statuses,
      .list(of: .integer(400...599)),
      "Statuses to try again besides 408, 425, 429, 500, 502, 503 and 504"
    )
  }
  .checking { retries, facts, decoder in
    for (key, delay) in [("delay", retries.delay), ("lookup_delay", retries.lookupDelay ?? .zero)]
    where delay > retries.maximumDelay {
      decoder.report(
        "config.bad-value",
        "`\(key)` is longer than `max_delay`",
        at: facts.place(of: key)
      )
    }
  }
}

/// How long each part of the work may take.
package struct Timeouts: Hashable, Sendable {
  package var connect = Duration.seconds(10)
  package var read = Duration.seconds(30)
  package var item = Limit<Duration>.unlimited
  package var run = Limit<Duration>.unlimited

  static let table = ObjectType(Self(), name: "timeouts") {
    Field("connect", \.connect, .duration.positive, "To look up, connect and shake hands")
    Field("read", \.read, .duration.positive, "Without a byte before a transfer counts as stalled")
    Field("item", \.item, .timeLimit, "For one transfer of an item, however steadily it arrives")
    Field("run", \.run, .timeLimit, "For the whole run; what is left is deferred")
  }
}
