import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == Int64 {
  /// Bits a second; a bare number is one of those, as media playlists write it.
  static var bitRate: Self {
    scalar("a bit rate such as `2Mbps`", summary: "bit rate", schema: rate.schema) {
      text throws(ValueComplaint) in
      if let quantity = try? Quantity(text), quantity.unit.isEmpty,
        let bits = quantity.scaled(by: 1)
      {
        return bits
      }
      let (bits, overflow) = try Units.rate(text).multipliedReportingOverflow(by: 8)
      guard !overflow else { throw ValueComplaint("`\(text)` is too large") }
      return bits
    } encode: {
      .integer($0)
    }
  }

  private var schema: [(String, JSONValue)] {
    guard case .scalar(let shape) = shape else { return [] }
    return shape.schema
  }
}
