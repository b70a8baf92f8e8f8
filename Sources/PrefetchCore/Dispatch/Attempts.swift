/// Attempt counters of an exchange.
struct Attempts: Sendable {
  private(set) var requests = 0
  /// Attempts at the present source since it last made progress.
  private(set) var sinceProgress = 0
  private(set) var ofSource = 0
  private(set) var inAll = 0
  /// Whether the next request belongs to the current attempt.
  var isFollowUp = false
  private var wasFollowUp = false
  /// Whether the redirect chain was restarted once because of an outdated redirect.
  var hasStartedOver = false

  mutating func begin() {
    requests += 1
    if !isFollowUp {
      sinceProgress += 1
      ofSource += 1
      inAll += 1
    }
    wasFollowUp = isFollowUp
    isFollowUp = false
  }

  /// Undoes the last ``begin()``, whose request never went out.
  mutating func takeBack() {
    requests -= 1
    isFollowUp = wasFollowUp
    guard !wasFollowUp else { return }
    sinceProgress -= 1
    ofSource -= 1
    inAll -= 1
  }

  mutating func noteProgress() {
    sinceProgress = 0
  }

  mutating func beginSource() {
    sinceProgress = 0
    ofSource = 0
    isFollowUp = false
    hasStartedOver = false
  }
}
