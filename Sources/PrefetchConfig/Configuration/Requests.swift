import PrefetchCore
import PrefetchDocuments

extension RedirectPolicy {
  static let table = ObjectType(Self(), name: "redirects") {
    Field("follow", \.isFollowing, .boolean).help("Whether to follow redirects")
    Field("max", \.maximum, .integer(0...50)).help("Most redirects of one request")
    Field("cross_host", \.allowsCrossHost, .boolean)
      .help("Whether a hop may lead to another host")
    Field("downgrade", \.allowsDowngrade, .boolean)
      .help("Whether a hop may lead from https to http, if http is allowed")
  }
}

extension RetryPolicy {
  static let table = ObjectType(Self(), name: "retries") {
    Field("items", \.count, .integer(0...100)).help("Retries of a failed transfer")
    Field("lookups", \.lookups, .integer(0...100)).help("Retries of a failed manifest request")
    Field("lookup_delay", \.lookupDelay, .duration)
      .help(
        "Longest pause before the first retry of a manifest; the default is `delay`"
      )
    Field("delay", \.delay, .duration).help("Longest pause before the first retry")
    Field("max_delay", \.maximumDelay, .duration).help("Longest pause before any retry")
    Field("wait", \.wait, .duration)
      .help("Longest wait in a run for a `Retry-After` or for another process")
    Field("statuses", \.statuses, .list(of: .integer(400...599)))
      .help("Statuses to retry, beside 408, 425, 429, 500, 502, 503 and 504")
  }
  .checking { retries, facts, decoder in
    for (key, delay) in [("delay", retries.delay), ("lookup_delay", retries.lookupDelay ?? .zero)]
    where delay > retries.maximumDelay {
      decoder.report(
        "config.bad-value",
        "`\(key)` is longer than `max_delay`",
        at: facts.keyNode(of: key)
      )
    }
  }
}

extension Configuration {
  static let timeouts = ObjectType(Self(), name: "timeouts") {
    Field("connect", \.settings.connectTimeout, .duration.positive)
      .help("Longest time to look up, connect and shake hands")
    Field("read", \.settings.readTimeout, .duration.positive)
      .help("Longest time without a byte before a transfer is stalled")
    Field("item", \.settings.itemTimeout, .timeBound)
      .help("Longest time for the transfer of one item")
    Field("run", \.policy.deadline, .timeBound)
      .help("Longest time for the whole run, which defers the rest")
  }

  static let transport = ObjectType(Self(), name: "transport") {
    Field("rules", \.policy.connections.rules, .list(of: .object(TransportRule.table)))
      .help("Rules; the first that matches a request applies")
  }
}

extension TransportRule {
  fileprivate static let table = ObjectType(Self(), name: "transport_rule") {
    Field("match", \.self, matchTable).help("Requests that the rule applies to; by default all")
    Field("proxy", \.proxy, .proxy).help("Proxy for these requests")
    Field("headers", \.headers, .headers).help("Headers added to these requests").secret
    Field("http", \.httpVersion, .choice()).help("Highest version of HTTP for these requests")
  }

  private static let matchTable = ObjectType(Self(), name: "match", shorthand: "url") {
    Field("url", \.url, .urlPattern)
      .help("Pattern of the whole URL; `*` matches within one part of the path, `**` across parts")
    Field("method", \.method, .choice(ignoringCase: true)).help("Method of the requests")
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
