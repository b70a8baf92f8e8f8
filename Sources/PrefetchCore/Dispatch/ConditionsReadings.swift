/// Schedule of network condition readings: the next is due `interval` after the last one.
struct ConditionsReadings: Sendable {
  static let interval: Duration = .seconds(5)

  var aspects: Set<NetworkConditions.Aspect> = []
  private(set) var isReading = false
  private var endedAt: Duration?
  private var requested: Set<NetworkConditions.Aspect> = []
  private(set) var known: Set<NetworkConditions.Aspect> = []

  var areEnough: Bool {
    aspects.isSubset(of: known)
  }

  mutating func begin() {
    isReading = true
    requested = aspects
  }

  mutating func end(at uptime: Duration) {
    known = requested
    isReading = false
    endedAt = uptime
  }

  func areDue(at uptime: Duration) -> Bool {
    guard !aspects.isEmpty, !isReading, let endedAt else { return false }
    return uptime >= endedAt + Self.interval
  }
}
