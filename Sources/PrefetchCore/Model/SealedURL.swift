/// Redirect target as the index keeps it: a hash replaces its query, which may be a credential.
package enum SealedURL {
  package static func text(of url: String) -> String {
    guard let start = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
    let query = url[start...].dropFirst()
    guard !query.isEmpty, !isMark(query) else { return url }
    var hash = StableHash()
    hash.combine(url)
    let digits = String(hash.value, radix: 16)
    let zeros = String(repeating: "0", count: markSize - digits.utf8.count)
    return "\(url[..<start])?~\(zeros)\(digits)"
  }

  package static func isSame(_ a: String, _ b: String) -> Bool {
    a == b || text(of: a) == text(of: b)
  }

  private static let markSize = 16

  private static func isMark(_ query: Substring) -> Bool {
    query.utf8.count == markSize + 1 && query.hasPrefix("~")
      && query.dropFirst().allSatisfy(\.isHexDigit)
  }
}
