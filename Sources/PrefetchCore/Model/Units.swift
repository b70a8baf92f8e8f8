/// Number with a decimal fraction, and a unit after at most one space.
private struct Quantity {
  /// Digits before and after the point as one number: 125 for `1.25`.
  var digits: Int64
  var scale: Int
  var unit: Substring

  init?(_ text: some StringProtocol) {
    var digits: Int64 = 0
    var scale = 0
    var hasPoint = false
    var hasDigit = false
    var rest = Substring(text)
    while let byte = rest.utf8.first {
      if ASCII.isDigit(byte) {
        let (product, tooBig) = digits.multipliedReportingOverflow(by: 10)
        let (sum, overflow) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
        guard !tooBig, !overflow else { return nil }
        digits = sum
        scale += hasPoint ? 1 : 0
        hasDigit = true
      } else if byte == UInt8(ascii: "."), !hasPoint, hasDigit {
        hasPoint = true
      } else {
        break
      }
      rest = rest.dropFirst()
    }
    let endsInPoint = hasPoint && scale == 0
    guard hasDigit, !endsInPoint, scale <= 18 else { return nil }
    if rest.first == " ", rest.count > 1 { rest = rest.dropFirst() }
    self.digits = digits
    self.scale = scale
    unit = rest
  }

  func multiplied(by factor: Int64) -> Int64? {
    let wide = Int128(digits) * Int128(factor)
    var divisor: Int128 = 1
    for _ in 0..<scale { divisor *= 10 }
    return Int64(exactly: wide / divisor)
  }
}

/// Durations as users write them: `10s`, `5m`, `2h`, `7d`, `1.5h`, a bare number of seconds.
package enum DurationText {
  package static let units: [(name: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  package static func parse(_ text: some StringProtocol) -> Duration? {
    guard let quantity = Quantity(text) else { return nil }
    let name = quantity.unit.isEmpty ? "s" : quantity.unit
    guard let unit = units.first(where: { $0.name == name }),
      let milliseconds = quantity.multiplied(by: unit.milliseconds)
    else { return nil }
    return .milliseconds(milliseconds)
  }
}

/// Numbers of bytes as users write them: `100MB`, `1.5 GiB`, a bare number of bytes.
package enum SizeText {
  /// Value of `unlimited`: more than any body or disk has.
  package static let unlimited = Int64.max

  package static let units: [(name: String, bytes: Int64)] = [
    ("B", 1),
    ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]

  package static func parse(_ text: some StringProtocol) -> Int64? {
    if text == "unlimited" { return unlimited }
    guard let quantity = Quantity(text) else { return nil }
    guard !quantity.unit.isEmpty else { return quantity.multiplied(by: 1) }
    let name = quantity.unit.lowercased()
    guard let unit = units.first(where: { $0.name.lowercased() == name }) else { return nil }
    return quantity.multiplied(by: unit.bytes)
  }

  /// Formats a size for people: `0 B`, `999 B`, `1.2 kB`, `34 MB`.
  package static func format(_ bytes: Int64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    guard unit > 0, value < 9.95 else { return "\(Int64(value.rounded())) \(units[unit])" }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// Formats a limit exactly, as a user may have written it: `350 kB`, `10 GiB`.
  package static func format(limit: Int64) -> String {
    let exact = units.filter { limit > 0 && limit.isMultiple(of: $0.bytes) }
    let unit =
      exact.last { !$0.name.contains("i") && limit / $0.bytes < 1000 }
      ?? exact.max { $0.bytes < $1.bytes }
    guard let unit else { return "\(limit) B" }
    return "\(limit / unit.bytes) \(unit.name)"
  }

  /// Formats sizes for comparison: in bytes if different sizes would look alike.
  package static func format(together sizes: [Int64]) -> [String] {
    let rounded = sizes.map(format(_:))
    return Set(rounded).count == Set(sizes).count ? rounded : sizes.map { "\($0) B" }
  }
}
