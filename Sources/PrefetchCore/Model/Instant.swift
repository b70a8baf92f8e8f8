/// Wall-clock time in milliseconds since 1970-01-01T00:00:00Z.
package struct Instant: Hashable, Comparable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package init(seconds: Int64) {
    milliseconds = seconds.multipliedReportingOverflow(by: 1000).partialValue
  }

  /// Whole seconds, rounded down also before 1970.
  package var seconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.milliseconds < b.milliseconds
  }

  package static func + (a: Self, b: Duration) -> Self {
    Self(milliseconds: a.milliseconds.addingSaturated(b.milliseconds))
  }

  package static func - (a: Self, b: Self) -> Duration {
    let (difference, overflows) = a.milliseconds.subtractingReportingOverflow(b.milliseconds)
    guard overflows else { return .milliseconds(difference) }
    return .milliseconds(a < b ? Int64.min : Int64.max)
  }
}

/// Present time on two clocks: wall time for HTTP dates and reports, uptime for intervals.
package struct Moment: Hashable, Sendable {
  package var wall: Instant
  /// Monotonic time from an arbitrary start; never compared between processes.
  package var uptime: Duration

  package init(wall: Instant, uptime: Duration) {
    self.wall = wall
    self.uptime = uptime
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero, clamped to 64 bits.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    return whole.addingSaturated(attoseconds / 1_000_000_000_000_000)
  }

  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    return whole.addingSaturated(attoseconds / 1_000_000_000_000)
  }
}

extension Int64 {
  package func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}
