/// The directives of a Cache-Control header that matter to a private cache.
package struct CacheControl: Hashable, Sendable {
  package var maxAge: Int64?
  package var isImmutable = false
  package var hasNoCache = false
  package var hasNoStore = false
  package var mustRevalidate = false

  /// Unknown directives are ignored; of one given twice the smaller age counts.
  package init(_ header: String?) {
    for part in Self.directives(of: header ?? "") {
      let pieces = part.split(separator: "=", maxSplits: 1).map {
        $0.filter { $0 != " " && $0 != "\t" }
      }
      let value = pieces.count > 1 ? pieces[1].filter { $0 != "\"" } : nil
      switch pieces.first?.lowercased() {
      case "max-age":
        // An age that cannot be read is read as stale.
        let age = value.flatMap(Self.deltaSeconds) ?? 0
        maxAge = min(maxAge ?? age, age)
      case "immutable": isImmutable = true
      case "no-cache" where value == nil: hasNoCache = true
      case "no-store": hasNoStore = true
      case "must-revalidate": mustRevalidate = true
      default: continue
      }
    }
  }

  /// Splits at commas outside of quotes.
  private static func directives(of header: String) -> [Substring] {
    var isQuoted = false
    return header.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  /// Digits only, at most what RFC 9111 asks a cache to represent.
  static func deltaSeconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? .max, 1 << 31)
  }
}
