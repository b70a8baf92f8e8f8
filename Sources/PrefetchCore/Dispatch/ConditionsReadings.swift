/// What of the machine's network is looked at, and when.
struct ConditionsReadings: Sendable {
  /// Conditions are not read more often than this.
  static let interval: Duration = .seconds(5)

  /// All that any rule asks for by now.
  var aspects: Set<NetworkConditions.Aspect> = []
  private(set) var isUnderWay = false
  private var endedAt: Duration?
  /// What is looked at by the last reading that was asked for, and by the last one that came.
  private var asked: Set<NetworkConditions.Aspect> = []
  private(set) var known: Set<NetworkConditions.Aspect> = []

  /// Whether all was looked at that anything depends on by now.
  var areEnough: Bool {
    aspects.isSubset(of: known)
  }

  mutating func begin() {
    isUnderWay = true
    asked = aspects
  }

  mutating func end(at uptime: Duration) {
    known = asked
    isUnderWay = false
    endedAt = uptime
  }

  /// Whether it is time for another one.
  func areDue(at uptime: Duration) -> Bool {
    guard !aspects.isEmpty, !isUnderWay, let endedAt else { return false }
    return uptime >= endedAt + Self.interval
  }
}
