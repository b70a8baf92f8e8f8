internal import PrefetchCore

enum PlistElement: String, CaseIterable {
  case dict
  case array
  case key
  case string
  case integer
  case real
  case date
  case data
  case `true`
  case `false`

  func scalar(_ text: String) -> Scalar? {
    switch self {
    case .dict, .array, .key: nil
    case .string: Scalar(text, kind: .string)
    case .true, .false: text.isEmpty ? Scalar(rawValue, kind: .boolean) : nil
    case .integer: Self.integer(text.withoutXMLSpaceAround).map { Scalar($0, kind: .number) }
    case .real: Self.real(text.withoutXMLSpaceAround).map { Scalar($0, kind: .number) }
    case .date: Self.date(text.withoutXMLSpaceAround).map { Scalar($0, kind: .date) }
    case .data: Self.data(text).map { Scalar($0, kind: .data) }
    }
  }

  func complaint(about text: String) -> String {
    let shown = text.withoutXMLSpaceAround.quotable
    return switch self {
    case .true, .false: "`<\(rawValue)/>` holds no text"
    case .integer: "`\(shown)` is not an integer"
    case .real: "`\(shown)` is not a number"
    case .date: "`\(shown)` is not a date such as `2026-03-01T12:00:00Z`"
    case .data: "the text of `<data>` is not base64"
    case .dict, .array, .key, .string: "`<\(rawValue)>` takes no such text"
    }
  }

  /// Returns the integer's text; hexadecimal becomes decimal, since no other syntax has it.
  private static func integer(_ text: String) -> String? {
    let isNegative = text.hasPrefix("-")
    let digits = text.dropFirst(isNegative || text.hasPrefix("+") ? 1 : 0)
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      let hexadecimal = digits.dropFirst(2)
      guard hexadecimal.first?.isHexDigit == true else { return nil }
      return UInt64(hexadecimal, radix: 16).map { (isNegative && $0 != 0 ? "-" : "") + String($0) }
    }
    guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return (isNegative ? "-" : "") + digits
  }

  private static func real(_ text: String) -> String? {
    let isDecimal = text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
    guard isDecimal, let value = Double(text), value.isFinite else { return nil }
    return text
  }

  private static func date(_ text: String) -> String? {
    let shape = Array("0000-00-00T00:00:00Z".utf8)
    let bytes = Array(text.utf8)
    guard bytes.count == shape.count else { return nil }
    for (byte, model) in zip(bytes, shape) {
      guard model.isDigit ? byte.isDigit : byte == model else { return nil }
    }
    let field = { (index: Int) in Int(bytes[index] & 0x0F) * 10 + Int(bytes[index + 1] & 0x0F) }
    guard let month = PlistDate.daysInMonth(field(5), ofYear: field(0) * 100 + field(2)),
      (1...month).contains(field(8)), field(11) < 24, field(14) < 60, field(17) < 60
    else { return nil }
    return text
  }

  private static func data(_ text: String) -> String? {
    let bytes = text.utf8.filter { !$0.isXMLSpace }
    let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard bytes.count % 4 == 0, padding <= 2 else { return nil }
    let isAlphabet = bytes.dropLast(padding).allSatisfy {
      $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
    }
    return isAlphabet ? String(decoding: bytes, as: UTF8.self) : nil
  }
}

extension UInt8 {
  var isXMLSpace: Bool {
    self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D
  }

  fileprivate var isDigit: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }

  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}

extension String {
  var withoutXMLSpaceAround: String {
    var rest = utf8[...]
    while let first = rest.first, first.isXMLSpace { rest.removeFirst() }
    while let last = rest.last, last.isXMLSpace { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }
}
