internal import PrefetchCore

struct ChecksumLine {
  enum Value {
    case digest(DigestAlgorithm, Range<Int>)
    /// Name of a hash function that this program cannot check.
    case unknown(String)
    case size(Int64)
    /// A malformed size, or digits whose count fits no known digest.
    case malformed(DigestAlgorithm?, Range<Int>)
  }

  var value: Value
  var name: Range<Int>
  var isEscaped: Bool
  /// Whether the line names the hash function, as BSD's format does.
  var isTagged = false

  init?(_ range: Range<Int>, _ lines: TextLines) {
    var range = range
    isEscaped = lines.byte(at: range.lowerBound) == UInt8(ascii: "\\") && !range.isEmpty
    if isEscaped { range = range.lowerBound + 1..<range.upperBound }
    let digits = range.prefix { Hexadecimal.value(of: lines.byte(at: $0)) != nil }
    if digits.count >= 32, let line = Self.gnu(digits.startIndex..<digits.endIndex, range, lines) {
      (value, name) = line
    } else if let line = Self.tagged(range, lines) {
      (value, name) = line
      isTagged = true
    } else {
      return nil
    }
  }

  /// Parses GNU's `DIGEST  NAME` and `DIGEST *NAME`, and the single blank that BSD's `-r` writes.
  private static func gnu(
    _ digits: Range<Int>,
    _ range: Range<Int>,
    _ lines: TextLines
  ) -> (Value, Range<Int>)? {
    guard digits.upperBound < range.upperBound, lines.isBlank(digits.upperBound) else { return nil }
    var start = digits.upperBound + 1
    if lines.byte(at: start) == 0x20 || lines.byte(at: start) == UInt8(ascii: "*") { start += 1 }
    guard start < range.upperBound else { return nil }
    let value: Value =
      switch (DigestText.algorithm(digits: digits.count), digits.count) {
      case (let algorithm?, _): .digest(algorithm, digits)
      case (nil, 56): .unknown("SHA224")
      default: .malformed(nil, digits)
      }
    return (value, start..<range.upperBound)
  }

  /// Parses BSD's `ALGORITHM (NAME) = DIGEST`.
  private static func tagged(
    _ range: Range<Int>,
    _ lines: TextLines
  ) -> (Value, Range<Int>)? {
    guard let open = lines.first(UInt8(ascii: "("), in: range), open > range.lowerBound + 1,
      lines.byte(at: open - 1) == 0x20,
      let close = range.last(where: { index in
        lines.byte(at: index) == UInt8(ascii: ")")
          && lines.begins(index..<range.upperBound, with: ") = ")
      }), close > open + 1
    else { return nil }
    guard let tag = lines.text(range.lowerBound..<open - 1),
      tag.utf8.allSatisfy({ isTag($0) })
    else { return nil }
    return (
      value(of: tag, lines.trimmed(close + 4..<range.upperBound), lines), open + 1..<close
    )
  }

  private static func isTag(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func value(of tag: String, _ range: Range<Int>, _ lines: TextLines) -> Value {
    if tag.lowercased() == "size" {
      let digits = range.prefix { ASCII.isDigit(lines.byte(at: $0)) }
      let text = lines.text(digits.startIndex..<digits.endIndex) ?? ""
      return Int64(text).map { .size($0) } ?? .malformed(nil, range)
    }
    guard let algorithm = DigestText.algorithm(tag) else { return .unknown(tag) }
    return .digest(algorithm, range)
  }
}
