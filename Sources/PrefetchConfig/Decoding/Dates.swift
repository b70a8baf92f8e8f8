import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == Instant {
  /// A day, meaning its first moment in UTC, or an RFC 3339 time.
  static var date: Self {
    let schema: [(String, JSONValue)] = [("type", .string("string"))]
    return scalar(
      "a date such as `2027-06-30`",
      summary: "date",
      schema: schema,
      code: "config.bad-date"
    ) {
      text throws(ValueComplaint) in
      guard let instant = Timestamp.parse(text) else {
        throw ValueComplaint(
          "`\(text)` is no date",
          hint: "write `2027-06-30` or `2027-06-30T12:00:00Z`"
        )
      }
      return instant
    } encode: {
      .string(Timestamp.format($0))
    }
  }
}
