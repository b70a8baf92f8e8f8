/// Shell patterns over names and URLs: `*` any text, `?` one character, `[a-z]` a set.
package enum Glob {
  package static func matches(_ pattern: String, _ text: String) -> Bool {
    matches(Array(pattern.unicodeScalars)[...], Array(text.unicodeScalars)[...])
  }

  /// Backtracks only to the last `*`, so that no pattern takes more than quadratic time.
  private static func matches(
    _ pattern: ArraySlice<Unicode.Scalar>,
    _ text: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    var (p, t) = (pattern.startIndex, text.startIndex)
    var star: (pattern: Int, text: Int)?
    while t < text.endIndex {
      if p < pattern.endIndex, pattern[p] == "*" {
        star = (p, t)
        p += 1
      } else if p < pattern.endIndex, let next = step(pattern, p, text[t]) {
        p = next
        t += 1
      } else if let back = star {
        star = (back.pattern, back.text + 1)
        p = back.pattern + 1
        t = back.text + 1
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == "*" }
  }

  static func step(
    _ pattern: ArraySlice<Unicode.Scalar>,
    _ at: Int,
    _ scalar: Unicode.Scalar
  ) -> Int? {
    switch pattern[at] {
    case "?":
      return at + 1
    case "[":
      // A bracket that is first, also after a negation, is a member and does not close the set.
      let isNegated = pattern[(at + 1)...].first.map { $0 == "!" || $0 == "^" } ?? false
      let members = pattern[(at + (isNegated ? 2 : 1))...]
      guard let close = members.dropFirst().firstIndex(of: "]") else {
        return scalar == "[" ? at + 1 : nil
      }
      return isMember(scalar, of: pattern[(at + 1)..<close]) ? close + 1 : nil
    default:
      return pattern[at] == scalar ? at + 1 : nil
    }
  }

  private static func isMember(_ scalar: Unicode.Scalar, of set: ArraySlice<Unicode.Scalar>) -> Bool
  {
    let isNegated = set.first == "!" || set.first == "^"
    var members = isNegated ? set.dropFirst() : set
    var isFound = false
    while let low = members.first {
      members = members.dropFirst()
      guard members.first == "-", members.count > 1, let high = members.dropFirst().first else {
        isFound = isFound || low == scalar
        continue
      }
      members = members.dropFirst(2)
      isFound = isFound || (low <= scalar && scalar <= high)
    }
    return isFound != isNegated
  }
}
