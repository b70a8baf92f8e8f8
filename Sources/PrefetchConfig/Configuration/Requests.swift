import PrefetchCore
import PrefetchDocuments

// The keys that say how single requests are made, followed and repeated.

extension RedirectPolicy {
  static let table = ObjectType(Self(), name: "redirects") {
    Field("follow", \.isFollowing, .boolean, "Whether to go where an answer points")
    Field("max", \.maximum, .integer(0...50), "Hops before it counts as a loop")
    Field("cross_host", \.allowsCrossHost, .boolean, "Whether a hop may lead to another host")
    Field(
      "downgrade",
      \.allowsDowngrade,
      .boolean,
      "Whether a hop may lead from https to http, where http is allowed"
    )
  }
}

extension RetryPolicy {
  static let table = ObjectType(Self(), name: "retries") {
    Field("items", \.count, .integer(0...100), "Further tries of a failed transfer")
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

extension Configuration {
  static let timeouts = ObjectType(Self(), name: "timeouts") {
    Field(
      "connect",
      \.settings.connectTimeout,
      .duration.positive,
      "To look up, connect and shake hands"
    )
    Field(
      "read",
      \.settings.readTimeout,
      .duration.positive,
      "Without a byte before a transfer counts as stalled"
    )
    Field(
      "item",
      \.settings.itemTimeout,
      .timeBound,
      "For one transfer of an item, however steadily it arrives"
    )
    Field("run", \.policy.deadline, .timeBound, "For the whole run; what is left is deferred")
  }

  static let transport = ObjectType(Self(), name: "transport") {
    Field(
      "rules",
      \.policy.connections.rules,
      .list(of: .object(TransportRule.table)),
      "Rules, of which the first that matches holds"
    )
  }
}

extension TransportRule {
  fileprivate static let table = ObjectType(Self(), name: "transport_rule") {
    Field("match", \.self, matchTable, "Which requests the rule is for; without it, for all")
    Field("proxy", \.proxy, .proxy, "Proxy of these requests")
    Field("headers", \.headers, .headers, "Headers added to these requests").secret
    Field("http", \.httpVersion, .choice(), "Version of HTTP of these requests")
  }

  private static let matchTable = ObjectType(Self(), name: "match", shorthand: "url") {
    Field(
      "url",
      \.url,
      .urlPattern,
      "Pattern of the whole URL; `*` stays within a path part, `**` does not"
    )
    Field("method", \.method, .choice(ignoringCase: true), "Method of the request")
  }
}

extension ValueType where Value == URLPattern {
  fileprivate static var urlPattern: Self {
    ValueType<String>.text.nonEmpty.mapped {
      URLPattern($0)
    } back: {
      $0.text
    }
  }
}
