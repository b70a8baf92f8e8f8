/// How often a question was put.
struct Tries: Sendable {
  /// Requests sent, whatever for.
  private(set) var requests = 0
  /// How often the present source was tried since something last moved there.
  private(set) var sinceProgress = 0
  /// The same from its beginning.
  private(set) var ofSource = 0
  /// Of all sources.
  private(set) var inAll = 0
  /// The next request belongs to the try that is under way.
  var isFollowUp = false
  private var wasFollowUp = false
  /// An outdated redirect is asked for anew once.
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

  /// Another source is asked from now on.
  mutating func beginSource() {
    sinceProgress = 0
    ofSource = 0
    isFollowUp = false
    hasStartedOver = false
  }
}
