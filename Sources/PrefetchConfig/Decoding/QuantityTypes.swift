import PrefetchCore
import PrefetchDocuments

extension ScalarSchema {
  fileprivate static let size = pattern(Units.sizePattern, "size", .from(0, to: .integer(.max)))
  fileprivate static let rate = pattern(Units.ratePattern, "rate", .from(0, to: .integer(.max)))
  fileprivate static let duration = pattern(
    Units.durationPattern(),
    "duration",
    .from(0, to: .integer(.max / 1000))
  )
  fileprivate static let timeSpan = pattern(
    Pattern.isPositive + Units.durationPattern(),
    "time_span",
    .from(0.001, to: .integer(.max / 1000))
  )
  fileprivate static let rateLimit = pattern(
    Units.rateLimitPattern,
    "rate_limit",
    .from(1, to: .integer(.max))
  )
  .or("unlimited", "rate_limit")

  static let rateRule: Self = {
    let rate = Pattern.any(of: [Units.rateLimitPattern, "unlimited"])
    let change = " *(?:\(Pattern.days) +)?\(Pattern.clock) +\(rate) *"
    var schema = rateLimit.naming(nil)
    schema.text = .pattern(
      Pattern.any(of: [Units.rateLimitPattern, "\(change)(?:,\(change))*"])
    )
    return schema
  }()
}

extension ValueType where Value == Int64 {
  static var size: Self {
    scalar("a size", summary: "size", schema: .size) { text throws(ValueComplaint) in
      try Units.size(text)
    } encode: {
      .integer($0)
    }
  }

  static var sizeLimit: Self {
    scalar(
      "a size or `unlimited`",
      summary: "size|unlimited",
      schema: .size.or("unlimited", "size_limit")
    ) { text throws(ValueComplaint) in
      text == "unlimited" ? .max : try Units.size(text)
    } encode: {
      $0 == .max ? .string("unlimited") : .integer($0)
    }
  }

  static var rate: Self {
    scalar("a rate such as `20MB/s`", summary: "rate", schema: .rate) {
      text throws(ValueComplaint) in
      try Units.rate(text)
    } encode: {
      .integer($0)
    }
  }

  static var rateLimit: Self {
    scalar("a rate or `unlimited`", summary: "rate|unlimited", schema: .rateLimit) {
      text throws(ValueComplaint) in
      try Units.rateLimit(text)
    } encode: {
      $0 == .max ? .string("unlimited") : .integer($0)
    }
  }

  /// Bits per second, also for a number without unit, as in media playlists.
  static var bitRate: Self {
    scalar("a bit rate such as `2Mbps`", summary: "bit rate", schema: .rate) {
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

  fileprivate var orNil: ValueType<Int64?> {
    mapped {
      $0 == .max ? nil : $0
    } back: {
      $0 ?? .max
    }
  }
}

extension ValueType where Value == Int64? {
  static var sizeBound: Self { ValueType<Int64>.sizeLimit.orNil }
  static var rateBound: Self { ValueType<Int64>.rateLimit.orNil }
}

extension ValueType where Value == Duration {
  static var duration: Self {
    scalar("a duration such as `30s`", summary: "duration", schema: .duration) {
      text throws(ValueComplaint) in
      try Units.duration(text)
    } encode: {
      .decimal(thousandths: $0.milliseconds)
    }
  }

  var positive: Self {
    checked { value, node, decoder in
      guard value <= .zero else { return }
      decoder.report(
        "config.bad-value",
        "`\(decoder.lastKey)` must be longer than 0",
        at: node
      )
    }
    .describing { _ in .timeSpan }
  }
}

extension ValueType where Value == Duration? {
  static var timeBound: Self {
    scalar(
      "a duration or `none`",
      summary: "duration|none",
      schema: .timeSpan.or("none").or("unlimited", "time_limit")
    ) { text throws(ValueComplaint) in
      guard text != "none", text != "unlimited" else { return nil }
      let duration = try Units.duration(text)
      guard duration > .zero else { throw ValueComplaint("a limit of `\(text)` leaves no time") }
      return duration
    } encode: {
      $0.map { .decimal(thousandths: $0.milliseconds) } ?? .string("none")
    }
  }
}

extension ValueType where Value == Freshness.Lifetime {
  /// A duration only: a setting for many items cannot declare them immutable.
  static var bound: Self {
    ValueType<Duration>.duration.mapped {
      .atMost($0)
    } back: { lifetime in
      switch lifetime {
      case .atMost(let duration): duration
      case .immutable: .zero
      }
    }
  }

  static var lifetime: Self {
    scalar(
      "a duration or `immutable`",
      summary: "duration|immutable",
      schema: .duration.or("immutable", "lifetime")
    ) { text throws(ValueComplaint) in
      text == "immutable" ? .immutable : .atMost(try Units.duration(text))
    } encode: { lifetime in
      switch lifetime {
      case .immutable: .string("immutable")
      case .atMost(let duration): .decimal(thousandths: duration.milliseconds)
      }
    }
  }
}

extension ValueType where Value == Instant {
  /// A date, meaning its start in UTC, or an RFC 3339 time.
  static var date: Self {
    scalar(
      "a date such as `2027-06-30`",
      summary: "date",
      schema: .pattern(Pattern.date, "date"),
      code: "config.bad-date"
    ) { text throws(ValueComplaint) in
      guard let instant = Timestamp.parse(text) else {
        throw ValueComplaint(
          "`\(text)` is not a date",
          hint: "write `2027-06-30` or `2027-06-30T12:00:00Z`"
        )
      }
      return instant
    } encode: {
      .string(Timestamp.format($0))
    }
  }
}
