import PrefetchCore
import PrefetchDocuments

/// A decimal number with a unit, as in `1.5 GiB`.
struct Quantity {
  private var mantissa: Int64
  private var divisor: Int64
  let unit: Substring

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
    if rest.hasPrefix(" "), rest.utf8.count > 1 { rest = rest.dropFirst() }
    self.mantissa = mantissa
    self.divisor = divisor
    unit = rest
  }

  var isAtMostOne: Bool { mantissa <= divisor }

  /// Returns the number times `factor`, rounded down; nil beyond 64 bits.
  func scaled(by factor: Int64) -> Int64? {
    let (high, low) = mantissa.multipliedFullWidth(by: factor)
    guard high < divisor else { return nil }
    let quotient = divisor.dividingFullWidth((high, low)).quotient
    return quotient >= 0 ? quotient : nil
  }
}

enum Units {
  private static let sizes = SizeText.units.map { ($0.name, $0.bytes) }
  private static let bitRates: [(String, Int64)] = [
    ("bps", 1), ("kbps", 1000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000),
  ]
  private static let times = DurationText.units.map(\.name)

  static let sizePattern = Pattern.quantity(sizes.map { Pattern.anyCase($0.0) })

  private static let rateUnits: [String] = {
    let lone = sizes.map { String($0.0.dropLast()) }.filter { !$0.isEmpty }
    let bytes = Pattern.any(of: (sizes.map(\.0) + lone).map(Pattern.anyCase))
    return bitRates.map(\.0) + ["\(bytes)/[sS]"]
  }()
  static let ratePattern = Pattern.quantity(rateUnits)
  /// A rate above zero; without a unit it is at least one.
  static let rateLimitPattern = Pattern.any(of: [
    "\(Pattern.isPositive)\(Pattern.number()) ?\(Pattern.any(of: rateUnits))",
    "0*[1-9][0-9]{0,18}(?:\\.[0-9]{1,12})?",
  ])

  static func durationPattern() -> String {
    // More digits would overflow the milliseconds.
    Pattern.quantity(of: Pattern.number(ofDigits: 17), times)
  }

  static func size(_ text: String) throws(ValueComplaint) -> Int64 {
    if text != "unlimited", let size = SizeText.parse(text) { return size }
    let quantity = try Quantity(text)
    guard isKnown(quantity.unit, among: sizes.map(\.0)) else {
      throw unknownUnit(quantity.unit, in: text, of: "size", sizes.map(\.0))
    }
    throw ValueComplaint("`\(text)` is too large")
  }

  static func rate(_ text: String) throws(ValueComplaint) -> Int64 {
    let quantity = try Quantity(text)
    if quantity.unit.isEmpty { return try whole(quantity, 1, text) }
    if let factor = bitRates.first(where: { $0.0 == quantity.unit })?.1 {
      return try whole(quantity, factor, text) / 8
    }
    // `2M/s` in any case, as other tools write it.
    let unit = quantity.unit.lowercased()
    let factor = sizes.first {
      unit == "\($0.0)/s".lowercased() || unit == "\($0.0.dropLast())/s".lowercased()
    }?.1
    guard let factor, unit != "/s" else {
      let known = sizes.map { "\($0.0)/s" } + bitRates.map(\.0)
      throw unknownUnit(quantity.unit, in: text, of: "rate", known)
    }
    return try whole(quantity, factor, text)
  }

  static func rateLimit(_ text: String) throws(ValueComplaint) -> Int64 {
    guard text != "unlimited" else { return .max }
    let rate = try rate(text)
    guard rate > 0 else { throw ValueComplaint("a rate of `\(text)` would never end") }
    return rate
  }

  static func duration(_ text: String) throws(ValueComplaint) -> Duration {
    if let duration = DurationText.parse(text) { return duration }
    let quantity = try Quantity(text)
    guard isKnown(quantity.unit, among: times) else {
      throw unknownUnit(quantity.unit, in: text, of: "duration", times)
    }
    throw ValueComplaint("`\(text)` is too large")
  }

  private static func isKnown(_ unit: Substring, among known: [String]) -> Bool {
    unit.isEmpty || known.contains { $0.lowercased() == unit.lowercased() }
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
