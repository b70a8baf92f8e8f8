package import PrefetchCore
import PrefetchDocuments

/// Settings of requests that match a pattern.
package struct Transport: Hashable, Sendable {
  package struct Match: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable, CaseIterable {
      case get = "GET"
      case head = "HEAD"
      case post = "POST"
    }

    package var url: String?
    package var method: Method?

    static let table = ObjectType(Self(), name: "match", shorthand: "url") {
      Field(
        "url",
        \.url,
        .text.nonEmpty,
        "Pattern of the whole URL; `*` stays within a path part, `**` does not"
      )
      Field("method", \.method, .choice(ignoringCase: true), "Method of the request")
    }
  }

  package struct Rule: Hashable, Sendable {
    package var match = Match()
    package var proxy: Proxy?
    package var headers: [String: Secret] = [:]
    package var http: Network.HTTPVersion?

    static let table = ObjectType(Self(), name: "transport_rule") {
      Field("match", \.match, Match.table, "Which requests the rule is for; without it, for all")
      Field("proxy", \.proxy, .proxy, "Proxy of these requests")
      Field("headers", \.headers, .headers, "Headers added to these requests").secret
      Field("http", \.http, .choice(), "Version of HTTP of these requests")
    }
  }

  package var rules: [Rule] = []

  static let table = ObjectType(Self(), name: "transport") {
    Field(
      "rules",
      \.rules,
      .list(of: .object(Rule.table)),
      "Rules, of which the first that matches holds"
    )
  }
}

extension ValueType where Value == String {
  var nonEmpty: Self {
    checked { value, node, decoder in
      guard Blanks.trimmed(value).isEmpty else { return }
      decoder.report("config.bad-value", "`\(decoder.lastKey)` is empty", at: node)
    }
  }
}
