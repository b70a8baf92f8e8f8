package import PrefetchCore

/// Request headers of a client that may select an answer (`Vary`), sorted by name.
package struct ClientFields: Hashable, Sendable {
  private var fields: [HeaderField]

  /// Keeps those of a request's headers that may go on to a server.
  package init(_ headers: [HeaderField] = []) {
    fields = headers.filter { RequestHeader.mayComeFromClient($0.name) && Self.says($0) }
      .sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
  }

  package var isEmpty: Bool { fields.isEmpty }

  /// Headers for every hop: they say what is wanted, and nothing of who wants it.
  package var everywhere: [HeaderField] {
    fields.filter { RequestHeader.isHarmless($0.name) }
  }

  /// Headers for the server that the client has named, and for no other one.
  package var ofFirstOrigin: [HeaderField] {
    fields.filter { !RequestHeader.isHarmless($0.name) }
  }

  /// Returns the headers that an answer depends on.
  func named(by variance: Variance?) -> Self {
    let names = Self.names(of: variance)
    var named = self
    if !names.contains(Variance.anything) {
      named.fields.removeAll { !names.contains($0.name.lowercased()) }
    }
    return named
  }

  /// Whether all headers are among those of the other value.
  func isPart(of other: Self) -> Bool {
    fields.allSatisfy(other.fields.contains)
  }

  /// Whether clients may get different answers: some do not depend on any header of a client.
  static func select(_ variance: Variance?) -> Bool {
    names(of: variance).contains { $0 == Variance.anything || RequestHeader.mayComeFromClient($0) }
  }

  private static func names(of variance: Variance?) -> Set<String> {
    Set(variance?.hops.flatMap(\.names) ?? [])
  }

  /// Whether a header says anything: a client that accepts everything has no preference.
  private static func says(_ field: HeaderField) -> Bool {
    guard RequestHeader.isValue(field.value) else { return false }
    switch field.name.lowercased() {
    case "accept": return field.value != "*/*"
    case "accept-language", "accept-charset": return field.value != "*"
    default: return true
    }
  }
}
