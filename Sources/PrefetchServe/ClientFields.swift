package import PrefetchCore

/// What a client says that the answer to it may depend on (`Vary`), sorted by name.
package struct ClientFields: Hashable, Sendable {
  package private(set) var fields: [HeaderField]

  /// Of all that a request says; servers hear no more of it.
  package init(_ fields: [HeaderField] = []) {
    self.fields = fields.filter { Self.isPassedOn($0.name.lowercased()) && Self.says($0) }
      .sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
  }

  package var isEmpty: Bool { fields.isEmpty }

  /// What an answer depends on of it.
  func named(by variance: Variance?) -> Self {
    let names = Set(variance?.hops.flatMap(\.names) ?? [])
    guard !names.isEmpty, !names.contains(Variance.anything) else {
      return names.isEmpty ? Self() : self
    }
    var named = self
    named.fields.removeAll { !names.contains($0.name.lowercased()) }
    return named
  }

  /// Whether it says nothing that the other does not say.
  func isPart(of other: Self) -> Bool {
    fields.allSatisfy(other.fields.contains)
  }

  /// Who takes everything says as much as who says nothing.
  private static func says(_ field: HeaderField) -> Bool {
    guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      return false
    }
    let value = field.value.filter { $0 != " " && $0 != "\t" }
    switch field.name.lowercased() {
    case "accept": return value != "*/*"
    case "accept-language", "accept-charset": return value != "*"
    default: return true
    }
  }

  private static func isPassedOn(_ name: String) -> Bool {
    !kept.contains(name) && !keptPrefixes.contains { name.hasPrefix($0) }
  }

  /// Servers are asked in our name and with the credentials of the configuration; and what is said of
  /// the connection, of ranges and of conditions is for this server.
  private static let kept: Set<String> = [
    "accept-encoding", "authorization", "cache-control", "connection", "cookie", "cookie2", "date",
    "expect", "from", "host", "keep-alive", "origin", "pragma", "range", "referer", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
  ]
  private static let keptPrefixes = ["content-", "if-", "proxy-", "sec-fetch-"]
}
