/// How fast the bodies of one host came: bytes, and the time in which any of them was under way.
package struct HostPace: Hashable, Sendable {
  /// Fewer bytes are over before a connection has found its speed.
  package static let leastBytes = TransferSamples.smallestBody
  /// An older measurement says nothing of the line as it is now.
  package static let memory: Duration = .seconds(7 * 86_400)

  package private(set) var bytes: Int64
  package private(set) var busy: Duration
  /// The last stretch of time in which a body was under way, by uptime.
  private var stretch: Range<Duration>?

  package init(bytes: Int64 = 0, busy: Duration = .zero) {
    self.bytes = bytes
    self.busy = busy
  }

  package var isTelling: Bool { bytes >= Self.leastBytes }

  /// Bytes a second.
  package var rate: Int64 {
    let microseconds = max(1, busy.microseconds)
    let rate = Double(bytes) * 1_000_000 / Double(microseconds)
    return rate < 1e18 ? Int64(rate) : .max
  }

  /// Counts a body that was under way for so long when it ended at that uptime.
  package mutating func note(_ more: Int64, took elapsed: Duration, until end: Duration) {
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

  /// What is remembered after a further run; of what was known before only half counts any more.
  package func followed(by newer: HostPace) -> HostPace {
    HostPace(bytes: bytes / 2 + newer.bytes, busy: busy / 2 + newer.busy)
  }
}
