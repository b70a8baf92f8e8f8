package import PrefetchCore

/// Client headers that may select a response (`Vary`), sorted by name.
package struct ClientFields: Hashable, Sendable {
  private var fields: [HeaderField]

  package init(_ headers: [HeaderField] = []) {
    fields = headers.filter { RequestHeader.mayComeFromClient($0.name) && Self.says($0) }
      .sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
  }

  package var isEmpty: Bool { fields.isEmpty }

  /// Headers for every hop, which reveal preferences but not identities.
  package var everywhere: [HeaderField] {
    fields.filter { RequestHeader.isHarmless($0.name) }
  }

  package var ofFirstOrigin: [HeaderField] {
    fields.filter { !RequestHeader.isHarmless($0.name) }
  }

  func named(by variance: Variance?) -> Self {
    let names = Self.names(of: variance)
    var named = self
    if !names.contains(Variance.anything) {
      named.fields.removeAll { !names.contains($0.name.lowercased()) }
    }
    return named
  }

  func isSubset(of other: Self) -> Bool {
    fields.allSatisfy(other.fields.contains)
  }

  static func select(_ variance: Variance?) -> Bool {
    names(of: variance).contains { $0 == Variance.anything || RequestHeader.mayComeFromClient($0) }
  }

  private static func names(of variance: Variance?) -> Set<String> {
    Set(variance?.hops.flatMap(\.names) ?? [])
  }

  private static func says(_ field: HeaderField) -> Bool {
    guard RequestHeader.isValue(field.value) else { return false }
    switch field.name.lowercased() {
    case "accept": return field.value != "*/*"
    case "accept-language", "accept-charset": return field.value != "*"
    default: return true
    }
  }
}
