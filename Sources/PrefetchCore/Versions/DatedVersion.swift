/// Dates in the names of builds: `2026-11-29`, `2026-11`, `20261129`, `202611291921`.
///
/// `.` and `_` separate as `-` does. The first date counts, and all times are UTC.
enum DatedVersion {
  /// Returns nil for a text without a date; `listed` is the date that the list states.
  static func key(_ bytes: ArraySlice<UInt8>, listed: Instant?) -> VersionKey? {
    guard let instant = date(in: bytes) ?? listed else { return nil }
    var key = VersionKey()
    // The offset makes times before 1970 sort as unsigned numbers.
    key.append(integer: UInt64(bitPattern: instant.milliseconds) ^ (1 << 63))
    return key
  }

  private static func date(in bytes: ArraySlice<UInt8>) -> Instant? {
    var text = VersionText(bytes)
    while !text.isAtEnd {
      _ = text.take { !ASCII.isDigit($0) }
      guard let digits = text.takeDigits() else { return nil }
      if let instant = instant(digits) ?? separated(year: digits, text) { return instant }
    }
    return nil
  }

  /// Parses `2026-11-29` and `2026-11`, each with one separator.
  private static func separated(year: ArraySlice<UInt8>, _ text: VersionText) -> Instant? {
    var text = text
    guard year.count == 4, let separator = text.rest.first,
      text.skip(anyOf: "-._"), let month = text.takeDigits(), month.count == 2
    else { return nil }
    if text.rest.first == separator, text.skip(anyOf: "-._"), let day = text.takeDigits(),
      day.count == 2, let instant = instant(year + month + day)
    {
      return instant
    }
    return instant(year + month + "01".utf8)
  }

  /// Parses `20261129`, `202611291921` and `20261129192107`.
  private static func instant(_ digits: ArraySlice<UInt8>) -> Instant? {
    guard [8, 12, 14].contains(digits.count) else { return nil }
    let padded = Array(digits) + Array(repeating: UInt8(ascii: "0"), count: 14 - digits.count)
    func part(_ range: Range<Int>) -> String { String(decoding: padded[range], as: UTF8.self) }
    // Eight digits are often another number, so the century and the calendar have to fit.
    guard ["19", "20", "21"].contains(part(0..<2)) else { return nil }
    return Timestamp.parse(
      "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z"
    )
  }
}
