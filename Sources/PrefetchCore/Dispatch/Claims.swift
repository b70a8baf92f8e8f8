/// Items that this run has claimed, so that no other run requests them; unused in a lone run.
struct Claims: Sendable {
  private(set) var hasOtherRuns = false
  private var items: Set<Int> = []
  private var released: [String] = []

  mutating func begin(with items: Set<Int>) {
    hasOtherRuns = true
    self.items = items
  }

  func lacksClaim(_ item: Int) -> Bool {
    hasOtherRuns && !items.contains(item)
  }

  mutating func add(_ item: Int) {
    items.insert(item)
  }

  mutating func end(_ item: Int) -> Bool {
    hasOtherRuns && items.remove(item) != nil
  }

  mutating func release(_ url: String) {
    released.append(url)
  }

  mutating func drainReleased() -> [String] {
    defer { released = [] }
    return released
  }

  /// Returns the pause before a job claimed by another run is tried again; nil after `limit`.
  static func pause(since: Duration, now: Duration, limit: Duration) -> Duration? {
    now - since < limit ? pause : nil
  }

  private static let pause: Duration = .milliseconds(50)
}
