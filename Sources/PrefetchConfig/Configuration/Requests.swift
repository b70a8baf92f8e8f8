import PrefetchCore
import PrefetchDocuments

// Keys about single requests: redirects, retries and transports.

extension RedirectPolicy {
  static let table = ObjectType(Self(), name: "redirects") {
    Field("follow", \.isFollowing, .boolean).help("Whether to go where an answer points")
    Field("max", \.maximum, .integer(0...50)).help("Hops before it counts as a loop")
    Field("cross_host", \.allowsCrossHost, .boolean)
      .help("Whether a hop may lead to another host")
    Field("downgrade", \.allowsDowngrade, .boolean)
      .help("Whether a hop may lead from https to http, where http is allowed")
  }
}

extension RetryPolicy {
  static let table = ObjectType(Self(), name: "retries") {
    Field("items", \.count, .integer(0...100)).help("Further tries of a failed transfer")
    Field("lookups", \.lookups, .integer(0...100)).help("Further tries for a manifest")
    Field("lookup_delay", \.lookupDelay, .duration)
      .help(
        "Longest pause before the first further try for a manifest; `delay` where it is not set"
      )
    Field("delay", \.delay, .duration).help("Longest pause before the first further try")
    Field("max_delay", \.maximumDelay, .duration).help("Longest pause before any further try")
    Field("wait", \.wait, .duration)
      .help("Longest `Retry-After`, and longest wait for another process, within a run")
    Field("statuses", \.statuses, .list(of: .integer(400...599)))
      .help("Statuses to try again, beside 408, 425, 429, 500, 502, 503 and 504")
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
    Field("connect", \.settings.connectTimeout, .duration.positive)
      .help("To look up, connect and shake hands")
    Field("read", \.settings.readTimeout, .duration.positive)
      .help("Without a byte before a transfer counts as stalled")
    Field("item", \.settings.itemTimeout, .timeBound)
      .help("For one transfer of an item, however steadily it arrives")
    Field("run", \.policy.deadline, .timeBound)
      .help("For the whole run; what is left is deferred")
  }

  static let transport = ObjectType(Self(), name: "transport") {
    Field("rules", \.policy.connections.rules, .list(of: .object(TransportRule.table)))
      .help("Rules, of which the first that matches holds")
  }
}

extension TransportRule {
  fileprivate static let table = ObjectType(Self(), name: "transport_rule") {
    Field("match", \.self, matchTable).help("Which requests the rule is for; without it, for all")
    Field("proxy", \.proxy, .proxy).help("Proxy of these requests")
    Field("headers", \.headers, .headers).help("Headers added to these requests").secret
    Field("http", \.httpVersion, .choice()).help("Version of HTTP of these requests")
  }

  private static let matchTable = ObjectType(Self(), name: "match", shorthand: "url") {
    Field("url", \.url, .urlPattern)
      .help("Pattern of the whole URL; `*` matches within one part of the path, `**` across parts")
    Field("method", \.method, .choice(ignoringCase: true)).help("Method of the request")
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
