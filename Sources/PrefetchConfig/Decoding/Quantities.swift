import PrefetchCore
import PrefetchDocuments

/// A decimal number and the letters behind it, as in `1.5 GiB`.
struct Quantity {
  private var mantissa: Int64
  private var divisor: Int64
  let unit: Substring

  /// Digits, at most one point between digits, at most one space, a unit.
  init(_ text: some StringProtocol) throws(ValueComplaint) {
    let malformed = ValueComplaint("`\(text)` is not a number with a unit", code: "config.bad-unit")
    var mantissa: Int64 = 0
    var divisor: Int64 = 1
    var hasPoint = false
    var rest = Substring(text)
    guard let first = rest.utf8.first, (48...57).contains(first) else { throw malformed }
    while let byte = rest.utf8.first {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if (48...57).contains(byte) {
        let (shifted, overflow) = mantissa.multipliedReportingOverflow(by: 10)
        let (sum, carry) = shifted.addingReportingOverflow(Int64(byte - 48))
        guard !overflow, !carry, divisor <= 1_000_000_000_000 else {
          throw ValueComplaint("`\(text)` has too many digits")
        }
        mantissa = sum
        if hasPoint { divisor *= 10 }
      } else {
        break
      }
      rest = rest.dropFirst()
    }
    guard !hasPoint || divisor > 1 else { throw malformed }
    if rest.hasPrefix(" ") { rest = rest.dropFirst() }
    self.mantissa = mantissa
    self.divisor = divisor
    unit = rest
  }

  /// The whole number of `factor`s, rounded down; nil beyond 64 bits.
  func scaled(by factor: Int64) -> Int64? {
    let (high, low) = mantissa.multipliedFullWidth(by: factor)
    guard high < divisor else { return nil }
    let quotient = divisor.dividingFullWidth((high, low)).quotient
    return quotient >= 0 ? quotient : nil
  }
}

/// Something that may be without bound.
package enum Limit<Amount: Hashable & Sendable>: Hashable, Sendable {
  case unlimited
  case of(Amount)

  package var amount: Amount? {
    guard case .of(let amount) = self else { return nil }
    return amount
  }
}

/// Bytes of bodies, manifests and quotas.
package typealias ByteLimit = Limit<Int64>
/// Bytes a second.
package typealias RateLimit = Limit<Int64>

/// The spellings of sizes, rates and durations.
enum Units {
  private static let sizes: [(String, Int64)] = [
    ("B", 1), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]
  private static let bitRates: [(String, Int64)] = [
    ("bps", 1), ("kbps", 1000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000),
  ]
  private static let times: [(String, Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  static func size(_ text: String) throws(ValueComplaint) -> Int64 {
    let quantity = try Quantity(text)
    if quantity.unit.isEmpty { return try whole(quantity, 1, text) }
    guard let factor = sizes.first(where: { $0.0 == quantity.unit })?.1 else {
      throw unknownUnit(quantity.unit, in: text, of: "size", sizes.map(\.0))
    }
    return try whole(quantity, factor, text)
  }

  static func rate(_ text: String) throws(ValueComplaint) -> Int64 {
    let quantity = try Quantity(text)
    if quantity.unit.isEmpty { return try whole(quantity, 1, text) }
    if let factor = bitRates.first(where: { $0.0 == quantity.unit })?.1 {
      return try whole(quantity, factor, text) / 8
    }
    guard let factor = sizes.first(where: { "\($0.0)/s" == quantity.unit })?.1 else {
      let known = sizes.map { "\($0.0)/s" } + bitRates.map(\.0)
      throw unknownUnit(quantity.unit, in: text, of: "rate", known)
    }
    return try whole(quantity, factor, text)
  }

  /// One or more numbers with units, `1h30m`; a bare number is seconds.
  static func duration(_ text: String) throws(ValueComplaint) -> Duration {
    var rest = Substring(text)
    var total: Int64 = 0
    repeat {
      let number = rest.prefix { $0.isNumber || $0 == "." }
      let tail = rest.dropFirst(number.count)
      let spaces = tail.hasPrefix(" ") ? 1 : 0
      let unit = tail.dropFirst(spaces).prefix { !$0.isNumber && $0 != " " }
      let quantity = try Quantity(number + unit)
      let isBare = unit.isEmpty && rest.utf8.count == text.utf8.count
      guard let factor = isBare ? 1000 : times.first(where: { $0.0 == unit })?.1 else {
        throw unknownUnit(unit, in: text, of: "duration", times.map(\.0))
      }
      let (sum, overflow) = total.addingReportingOverflow(try whole(quantity, factor, text))
      guard !overflow else { throw ValueComplaint("`\(text)` is too large") }
      total = sum
      rest = tail.dropFirst(spaces + unit.count)
    } while !rest.isEmpty
    return .milliseconds(total)
  }

  private static func whole(
    _ quantity: Quantity,
    _ factor: Int64,
    _ text: String
  ) throws(ValueComplaint) -> Int64 {
    guard let value = quantity.scaled(by: factor) else {
      throw ValueComplaint("`\(text)` is too large")
    }
    return value
  }

  private static func unknownUnit(
    _ unit: Substring,
    in text: String,
    of kind: String,
    _ known: [String]
  ) -> ValueComplaint {
    let list = known.map { "`\($0)`" }.joined(separator: ", ")
    guard !unit.isEmpty else {
      return ValueComplaint(
        "`\(text)` lacks a unit",
        hint: "units are \(list)",
        code: "config.bad-unit"
      )
    }
    return ValueComplaint(
      "`\(text)` has the unknown \(kind) unit `\(unit)`",
      hint: "units are \(list)",
      code: "config.bad-unit"
    )
  }
}
