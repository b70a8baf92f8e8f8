import PrefetchCore

/// Regular expressions for JSON Schemas, in the common subset of ECMA-262 and Python.
enum Pattern {
  static func whole(_ pattern: String) -> String {
    pattern.contains("|") ? "^(?:\(pattern))$" : "^\(pattern)$"
  }

  static func any(of patterns: [String]) -> String {
    "(?:\(patterns.joined(separator: "|")))"
  }

  static func anyCase(_ word: String) -> String {
    word.map { letter in
      let (small, capital) = (letter.lowercased(), letter.uppercased())
      return small == capital ? escaped(String(letter)) : "[\(small)\(capital)]"
    }
    .joined()
  }

  static func escaped(_ word: String) -> String {
    word.map { "\\^$.|?*+()[]{}".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  // MARK: Texts

  static let blanks = "[\\t-\\r \\u0085\\u00a0]*"
  static let control = "\\u0000-\\u001f\\u007f"

  static let holdsSomething = "(?=[\\s\\S]*\\S)"
  /// Lookahead for text without control characters.
  static let holdsNoControl = "(?![\\s\\S]*[\(control)])"
  static let holdsNoReference = "(?=(?:\(literal))*$)"

  private static let literal = "[^$]|\\$\\$|\\$(?![{$])"

  private static func reference(withLicense: Bool) -> String {
    let license = withLicense ? "|license" : ""
    return "\\$\\{(?:(?:env|file|var):[^}]*|credential:(?!\\.\\.\\})[^/}]+\(license))\\}"
  }

  static func text(withLicense: Bool) -> String {
    "(?:\(literal)|\(reference(withLicense: withLicense)))*"
  }

  static let filled =
    "(?:\(literal))*\(reference(withLicense: false))\(text(withLicense: false))"

  // MARK: Numbers

  /// Whole numbers in a range, optionally with leading zeros.
  static func integers(_ range: ClosedRange<Int>) -> String {
    guard range.upperBound != .max else {
      return range.lowerBound == 0 ? "[0-9]{1,18}" : "0*[1-9][0-9]{0,17}"
    }
    var patterns: [String] = []
    var first = max(range.lowerBound, 0)
    while first <= range.upperBound {
      let digits = String(first)
      let last = min(Int(String(repeating: "9", count: digits.count)) ?? first, range.upperBound)
      patterns.append(between(Array(digits.utf8), Array(String(last).utf8)))
      first = last + 1
    }
    return "0*\(any(of: patterns))"
  }

  /// Numbers between two bounds with equally many digits.
  private static func between(_ low: [UInt8], _ high: [UInt8]) -> String {
    guard let first = low.first, let last = high.first else { return "" }
    let (lowRest, highRest) = (Array(low.dropFirst()), Array(high.dropFirst()))
    let zeros = [UInt8](repeating: 0x30, count: lowRest.count)
    let nines = [UInt8](repeating: 0x39, count: lowRest.count)
    if first == last {
      return digit(first, first) + between(lowRest, highRest)
    }
    var patterns: [String] = []
    let start = lowRest == zeros ? first : first + 1
    let end = highRest == nines ? last : last - 1
    if start > first { patterns.append(digit(first, first) + between(lowRest, nines)) }
    if start <= end {
      let count = zeros.count
      let more = count == 0 ? "" : count == 1 ? "[0-9]" : "[0-9]{\(count)}"
      patterns.append(digit(start, end) + more)
    }
    if end < last { patterns.append(digit(last, last) + between(zeros, highRest)) }
    return patterns.count == 1 ? patterns[0] : any(of: patterns)
  }

  private static func digit(_ first: UInt8, _ last: UInt8) -> String {
    let (low, high) = (Unicode.Scalar(first), Unicode.Scalar(last))
    return first == last ? "\(low)" : "[\(low)-\(high)]"
  }

  /// Digits with at most one point, as ``Quantity`` reads them.
  static func number(ofDigits count: Int = 19) -> String {
    "[0-9]{1,\(count)}(?:\\.[0-9]{1,12})?"
  }

  static let isPositive = "(?=[0-9.]*[1-9])"

  static func quantity(of number: String = number(), _ units: [String]) -> String {
    "\(number)(?: ?\(any(of: units)))?"
  }

  // MARK: Bytes

  static func hexadecimal(_ count: Int) -> String {
    "[0-9A-Fa-f]{\(count * 2)}"
  }

  /// Canonical base64 of `count` bytes: unused bits are zero.
  static func base64(_ count: Int) -> String {
    let digit = "[A-Za-z0-9+/]"
    let full = count / 3 * 4
    return switch count % 3 {
    case 1: "\(digit){\(full + 1)}[AQgw]=="
    case 2: "\(digit){\(full + 2)}[AEIMQUYcgkosw048]="
    default: "\(digit){\(full)}"
    }
  }

  // MARK: Times

  private static let hour = "(?:[01][0-9]|2[0-3])"
  static let clock = "\(hour):[0-5][0-9]"

  static let days: String = {
    let day = any(of: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map(anyCase))
    let span = "\(day)(?:-\(day))?"
    return "\(span)(?:, *\(span))*"
  }()

  /// A window such as `22:00-06:00`, optionally after days; its ends differ.
  static let window =
    " *(?:\(days.replacing(", *", with: ",")) +)?(?!([0-9:]+)-\\1 *$)\(clock)-(?:\(clock)|24:00) *"

  static let date: String = {
    let long = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    let short = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    let february = "02-(?:0[1-9]|1[0-9]|2[0-8])"
    let leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
    let time = "[Tt ]\(clock):(?:[0-5][0-9]|60)(?:\\.[0-9]+)?(?:[Zz]|[+-]\(clock))"
    return "(?:[0-9]{4}-(?:\(long)|\(short)|\(february))|\(leap))(?:\(time))?"
  }()

  static let timeZone: String = {
    let part = "[A-Za-z][A-Za-z0-9_+-]*"
    return "\(part)(?:/\(part)){0,2}"
  }()
}
