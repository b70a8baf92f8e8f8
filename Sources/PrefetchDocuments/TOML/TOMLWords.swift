internal import PrefetchCore

extension TOMLScanner {
  /// Integers are normalized to decimal digits, dates use `T`, and underscores are removed.
  mutating func scalar() throws(Diagnostic) -> (Scalar, SourceLocation) {
    let start = offset
    if byte() == UInt8(ascii: "\"") || byte() == UInt8(ascii: "'") {
      let text = try string()
      return (Scalar(text, kind: .string), location(from: start, to: offset))
    }
    let end = wordEnd()
    guard end > start else { throw unexpected("expected a value") }
    let word = String(decoding: bytes[start..<end], as: UTF8.self)
    guard let scalar = TOMLWord.scalar(word) else {
      throw fault(
        "`\(word.quotable)` is not a value in TOML",
        hint: "put text in quotes",
        from: start,
        to: end
      )
    }
    offset = end
    return (scalar, location(from: start, to: end))
  }

  private func wordEnd() -> Int {
    var index = offset
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
        UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ":"):
        index += 1
      case 0x20
      where index == offset + 10 && bytes[offset + 4] == UInt8(ascii: "-")
        && index + 1 < bytes.count && ASCII.isDigit(bytes[index + 1]):
        // A space may separate the date from the time.
        index += 1
      default: return index
      }
    }
    return index
  }
}

private enum TOMLWord {
  static func scalar(_ word: String) -> Scalar? {
    switch word {
    case "true", "false": return Scalar(word, kind: .boolean)
    case "inf", "+inf", "-inf", "nan", "+nan", "-nan": return Scalar(word, kind: .number)
    default: break
    }
    if let time = time(word) { return Scalar(time, kind: .date) }
    return number(word).map { Scalar($0, kind: .number) }
  }

  // MARK: Numbers

  private static func number(_ word: String) -> String? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.hasPrefix(prefix) {
      return digits(word.dropFirst(2), radix: radix).flatMap { Int64($0, radix: radix) }
        .map(String.init)
    }
    let sign = word.hasPrefix("-") ? "-" : ""
    let body = word.hasPrefix("-") || word.hasPrefix("+") ? word.dropFirst() : word[...]
    let whole = body.prefix { $0 != "." && $0 != "e" && $0 != "E" }
    guard let digits = digits(whole, radix: 10), digits == "0" || !digits.hasPrefix("0") else {
      return nil
    }
    let rest = body[whole.endIndex...]
    if rest.isEmpty { return Int64(sign + digits).map(String.init) }
    return fraction(rest).map { sign + digits + $0 }
  }

  private static func fraction(_ text: Substring) -> String? {
    var rest = text
    var fraction = ""
    if rest.hasPrefix(".") {
      let written = rest.dropFirst().prefix { $0 != "e" && $0 != "E" }
      guard let digits = digits(written, radix: 10) else { return nil }
      fraction = "." + digits
      rest = rest[written.endIndex...]
    }
    guard !rest.isEmpty else { return fraction }
    let power = rest.dropFirst()
    let sign = power.hasPrefix("-") ? "-" : ""
    let body = power.hasPrefix("-") || power.hasPrefix("+") ? power.dropFirst() : power
    return digits(body, radix: 10).map { "\(fraction)e\(sign)\($0)" }
  }

  private static func digits(_ text: Substring, radix: Int) -> String? {
    let groups = text.split(separator: "_", omittingEmptySubsequences: false)
    guard groups.allSatisfy({ !$0.isEmpty }) else { return nil }
    let joined = groups.joined()
    let isGood = joined.utf8.allSatisfy { (Hexadecimal.value(of: $0) ?? 99) < radix }
    return isGood ? joined : nil
  }

  // MARK: Times

  private static func time(_ word: String) -> String? {
    let bytes = Array(word.utf8)
    guard isDate(bytes.prefix(10)) else { return isTime(bytes[...]) ? word : nil }
    guard bytes.count > 10 else { return word }
    guard "Tt ".utf8.contains(bytes[10]) else { return nil }
    let clock = bytes[11...].prefix { ASCII.isDigit($0) || $0 == 0x3A || $0 == 0x2E }
    guard isTime(clock), isZone(bytes[clock.endIndex...]) else { return nil }
    let date = String(decoding: bytes.prefix(10), as: UTF8.self)
    return date + "T" + String(decoding: bytes[11...], as: UTF8.self).uppercased()
  }

  private static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
    guard matches(text, "0000-00-00") else { return false }
    let year = number(text, 0, 4)
    let month = number(text, 5, 2)
    guard (1...12).contains(month) else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(number(text, 8, 2))
  }

  private static func isTime(_ text: ArraySlice<UInt8>) -> Bool {
    guard matches(text.prefix(8), "00:00:00") else { return false }
    let fraction = text.dropFirst(8)
    guard fraction.isEmpty || (fraction.first == 0x2E && fraction.count > 1) else { return false }
    return fraction.dropFirst().allSatisfy(ASCII.isDigit) && number(text, 0, 2) < 24
      && number(text, 3, 2) < 60 && number(text, 6, 2) <= 60
  }

  private static func isZone(_ text: ArraySlice<UInt8>) -> Bool {
    switch text.first {
    case nil: return true
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return text.count == 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let clock = text.dropFirst()
      return matches(clock, "00:00") && number(clock, 0, 2) < 24 && number(clock, 3, 2) < 60
    default: return false
    }
  }

  /// Returns whether the text has digits in place of the pattern's zeros and equals it elsewhere.
  private static func matches(_ text: ArraySlice<UInt8>, _ pattern: StaticString) -> Bool {
    let pattern = Array("\(pattern)".utf8)
    return text.count == pattern.count
      && zip(text, pattern).allSatisfy { $1 == 0x30 ? ASCII.isDigit($0) : $0 == $1 }
  }

  private static func number(_ text: ArraySlice<UInt8>, _ index: Int, _ count: Int) -> Int {
    text.dropFirst(index).prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
