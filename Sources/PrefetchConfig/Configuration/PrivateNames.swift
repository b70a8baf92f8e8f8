import PrefetchCore
import PrefetchDocuments

/// Names of segments are reported and sent, so they should not tell who somebody is.
enum PrivateNames {
  static func check(_ name: String, at node: Node, _ decoder: inout NodeDecoder) {
    let digits = name.unicodeScalars.filter { ("0"..."9").contains($0) }
    let isNumber =
      digits.count >= 10
      && name.unicodeScalars.allSatisfy { "0123456789+-. ()/".unicodeScalars.contains($0) }
    let parts = name.split(separator: "@", omittingEmptySubsequences: false)
    let isAddress = parts.count == 2 && !parts[0].isEmpty && parts[1].contains(".")
    guard isNumber || isAddress || longestRun(of: name) >= 10 else { return }
    decoder.report(
      "config.private-name",
      "the name `\(name)` looks like an address or number of a person",
      severity: .warning,
      hint: "names are reported and sent; use one that says what the segment is for",
      at: node
    )
  }

  private static func longestRun(of name: String) -> Int {
    var longest = 0
    var current = 0
    for byte in name.utf8 {
      current = (48...57).contains(byte) ? current + 1 : 0
      longest = max(longest, current)
    }
    return longest
  }
}
