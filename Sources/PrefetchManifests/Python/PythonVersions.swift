/// Matches minor versions of Python 3 against version specifiers; nil means undecidable.
enum PythonVersions {
  static func satisfies(_ specifiers: String, minor: Int) -> Bool? {
    var isUnknown = false
    for part in specifiers.split(separator: ",") {
      let text = part.filter { !$0.isWhitespace }
      guard let comparison = operators.first(where: { text.hasPrefix($0) }) else { return nil }
      switch compare(minor, comparison, String(text.dropFirst(comparison.count))) {
      case false: return false
      case nil: isUnknown = true
      default: break
      }
    }
    return isUnknown ? nil : true
  }

  /// Operators, longer ones before their prefixes.
  static let operators = ["===", "==", "!=", "<=", ">=", "~=", "<", ">"]

  static func compare(_ minor: Int, _ comparison: String, _ version: String) -> Bool? {
    let isWild = version.hasSuffix(".*")
    let parts = (isWild ? version.dropLast(2) : version[...]).split(separator: ".")
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count, let major = numbers.first, (1...3).contains(numbers.count)
    else { return nil }
    let wanted = (major, numbers.count > 1 ? numbers[1] : 0)
    let own = (3, minor)
    // The patch version in use is unknown.
    let isFine = numbers.count == 3 && !isWild && wanted == own
    switch comparison {
    case "==", "===", "!=":
      let isEqual = isWild && numbers.count == 1 ? major == 3 : own == wanted
      if isFine, isEqual { return nil }
      return comparison == "!=" ? !isEqual : isEqual
    case "<": return isFine && numbers[2] > 0 ? nil : own < wanted
    case "<=": return isFine ? nil : own < wanted || own == wanted
    case ">": return isFine ? nil : own > wanted
    case ">=": return isFine && numbers[2] > 0 ? nil : own >= wanted
    case "~=":
      guard numbers.count > 1 else { return nil }
      if numbers.count == 3 { return own == wanted ? nil : false }
      return major == 3 && own >= wanted
    default: return nil
    }
  }
}
