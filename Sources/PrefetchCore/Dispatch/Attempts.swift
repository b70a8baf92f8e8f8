/// Attempt counters of an exchange.
struct Attempts: Sendable {
  private(set) var requests = 0
  /// Attempts at the present source since it last made progress.
  private(set) var sinceProgress = 0
  private(set) var atSource = 0
  private(set) var total = 0
  var isFollowUp = false
  private var wasFollowUp = false
  /// Whether the redirect chain was restarted once because of an outdated redirect.
  var hasStartedOver = false

  mutating func begin() {
    requests += 1
    if !isFollowUp {
      sinceProgress += 1
      atSource += 1
      total += 1
    }
    wasFollowUp = isFollowUp
    isFollowUp = false
  }

  mutating func undoBegin() {
    requests -= 1
    isFollowUp = wasFollowUp
    guard !wasFollowUp else { return }
    sinceProgress -= 1
    atSource -= 1
    total -= 1
  }

  mutating func recordProgress() {
    sinceProgress = 0
  }

  mutating func beginSource() {
    sinceProgress = 0
    atSource = 0
    isFollowUp = false
    hasStartedOver = false
  }
}
