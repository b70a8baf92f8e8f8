internal import PrefetchCore

/// Whether a tier is asked still, by what came of it so far.
struct TierStanding {
  private(set) var mayRead: Bool
  /// How often in a row it could not be reached, or gave what it should not.
  private var failuresInRow = 0
  private var liesInRow = 0

  private static let mostFailures = 3
  private static let mostLies = 4

  init(mayRead: Bool) {
    self.mayRead = mayRead
  }

  mutating func noteAnswer() {
    failuresInRow = 0
  }

  /// It gave what was asked for, or said that it does not have it.
  mutating func noteTruth() {
    failuresInRow = 0
    liesInRow = 0
  }

  /// True where nothing more is asked of it in this run.
  mutating func note(_ failure: Failure) -> Bool {
    failuresInRow += 1
    guard
      failuresInRow >= Self.mostFailures || failure.code == .stalled
        || failure.code.category == .trust
    else { return false }
    return giveUp()
  }

  /// The same of what it should not have given.
  mutating func noteLie() -> Bool {
    liesInRow += 1
    return liesInRow >= Self.mostLies && giveUp()
  }

  private mutating func giveUp() -> Bool {
    mayRead = false
    return true
  }
}
