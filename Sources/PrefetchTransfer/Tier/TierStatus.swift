internal import PrefetchCore

/// Whether a tier is still used, judged by its failures so far.
struct TierStatus {
  private(set) var mayRead: Bool
  /// Successive failures to reach the tier; `liesInRow` counts invalid content.
  private var failuresInRow = 0
  private var liesInRow = 0

  private static let mostFailures = 3
  private static let mostLies = 4

  init(mayRead: Bool) {
    self.mayRead = mayRead
  }

  mutating func recordResponse() {
    failuresInRow = 0
  }

  mutating func recordTruth() {
    failuresInRow = 0
    liesInRow = 0
  }

  mutating func recordFailure(_ failure: Failure) -> Bool {
    failuresInRow += 1
    guard
      failuresInRow >= Self.mostFailures || failure.code == .stalled
        || failure.code.category == .trust
    else { return false }
    return giveUp()
  }

  mutating func recordLie() -> Bool {
    liesInRow += 1
    return liesInRow >= Self.mostLies && giveUp()
  }

  private mutating func giveUp() -> Bool {
    mayRead = false
    return true
  }
}
