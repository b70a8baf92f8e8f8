/// Cache-Control directives that matter to a private cache.
package struct CacheControl: Hashable, Sendable {
  package private(set) var maxAge: Int64?
  package private(set) var hasNoCache = false
  package private(set) var hasNoStore = false
  package private(set) var mustRevalidate = false
  package private(set) var isPrivate = false
  /// Fields named by `no-cache`: the response may be stored without them.
  package private(set) var withheldFields: [String] = []

  /// Reads a header value; ignores unknown directives and uses the smaller of two `max-age`.
  package init(_ header: String?) {
    guard let header else { return }
    var isUnderstood = false
    for directive in Self.directives(of: header) {
      switch directive.name {
      case "max-age":
        // An unreadable age counts as stale.
        let age = directive.value.flatMap(Self.deltaSeconds) ?? 0
        maxAge = min(maxAge ?? age, age)
      case "no-cache":
        let fields = Self.names(in: directive.value ?? "")
        // `no-cache` without field names applies to the whole response.
        hasNoCache = hasNoCache || fields.isEmpty
        withheldFields += fields
      case "no-store": hasNoStore = true
      // A cache that knows the status, as for all stored ones, may ignore `no-store` (RFC 9111).
      case "must-understand": isUnderstood = true
      case "must-revalidate": mustRevalidate = true
      case "private": isPrivate = true
      default: continue
      }
    }
    if isUnderstood { hasNoStore = false }
  }

  private struct Directive {
    var name: String
    var value: String?
  }

  /// Splits a list (RFC 9110 §5.6), in which quoted strings may hold commas and escaped quotes.
  private static func directives(of header: String) -> [Directive] {
    var directives: [Directive] = []
    var rest = Array(header.utf8)[...]
    while !rest.isEmpty {
      let name = rest.prefix { $0 != comma && $0 != equals }
      rest = rest.dropFirst(name.count)
      var directive = Directive(name: text(name).lowercased(), value: nil)
      if rest.first == equals {
        rest = rest.dropFirst()
        directive.value = value(&rest)
      }
      // Text between a quoted string and the next comma is ignored.
      rest = rest.drop { $0 != comma }.dropFirst()
      if !directive.name.isEmpty { directives.append(directive) }
    }
    return directives
  }

  private static func value(_ rest: inout ArraySlice<UInt8>) -> String {
    rest = rest.drop { $0 == blank || $0 == tab }
    guard rest.first == quote else {
      let token = rest.prefix { $0 != comma }
      rest = rest.dropFirst(token.count)
      return text(token)
    }
    var value: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != quote {
      value.append(byte == backslash ? rest.popFirst() ?? byte : byte)
    }
    return String(decoding: value, as: UTF8.self)
  }

  private static func names(in list: String) -> [String] {
    list.utf8.split(separator: comma).map { text($0).lowercased() }.filter { !$0.isEmpty }
  }

  private static func text(_ bytes: some BidirectionalCollection<UInt8>) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == blank || $0 == tab }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }),
      let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// Parses digits only; capped at 2³¹, the maximum that RFC 9111 requires a cache to represent.
  static func deltaSeconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? .max, 1 << 31)
  }

  private static let comma = UInt8(ascii: ",")
  private static let equals = UInt8(ascii: "=")
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  private static let blank = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")
}
