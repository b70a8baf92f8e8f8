/// Transfer rate of a host: bytes, and the time in which a body was in flight.
package struct HostPace: Hashable, Sendable {
  /// Minimum of bytes, since a connection needs some to reach its speed.
  package static let leastBytes = TransferSamples.smallestBody
  package static let maximumAge: Duration = .seconds(7 * 86_400)

  package private(set) var bytes: Int64
  package private(set) var busy: Duration
  /// Last interval in which a body was in flight, by uptime.
  private var stretch: Range<Duration>?

  package init(bytes: Int64 = 0, busy: Duration = .zero) {
    self.bytes = bytes
    self.busy = busy
  }

  package var hasEnoughBytes: Bool { bytes >= Self.leastBytes }

  package var rate: Int64 {
    let microseconds = max(1, busy.microseconds)
    let rate = Double(bytes) * 1_000_000 / Double(microseconds)
    return rate < 1e18 ? Int64(rate) : .max
  }

  /// Adds a body that took `elapsed` and ended at the uptime `end`.
  package mutating func record(_ more: Int64, took elapsed: Duration, until end: Duration) {
    bytes = bytes.addingSaturated(more)
    let begin = end - max(.zero, elapsed)
    guard let stretch, begin < stretch.upperBound else {
      busy += end - begin
      self.stretch = begin..<max(begin, end)
      return
    }
    let whole = min(begin, stretch.lowerBound)..<max(end, stretch.upperBound)
    busy += whole.upperBound - stretch.upperBound + (stretch.lowerBound - whole.lowerBound)
    self.stretch = whole
  }

  /// Returns the remembered pace after another run; earlier measurements count half.
  package func followed(by newer: HostPace) -> HostPace {
    HostPace(bytes: bytes / 2 + newer.bytes, busy: busy / 2 + newer.busy)
  }
}
