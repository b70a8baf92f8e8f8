/// Items of a run that no other run on the same cache asks for meanwhile.
///
/// A run that is alone claims nothing.
struct Claims: Sendable {
  /// Whether other runs are at work on the cache.
  private(set) var hasCompany = false
  private var items: Set<Int> = []
  private var released: [String] = []

  /// Another run has come, when these items were under way.
  mutating func begin(with items: Set<Int>) {
    hasCompany = true
    self.items = items
  }

  /// Whether an item has to be claimed before it is asked for.
  func lacks(_ item: Int) -> Bool {
    hasCompany && !items.contains(item)
  }

  mutating func add(_ item: Int) {
    items.insert(item)
  }

  /// Ends the claim of an item; false where there is none.
  mutating func end(_ item: Int) -> Bool {
    hasCompany && items.remove(item) != nil
  }

  /// From now on a URL is free for others.
  mutating func release(_ url: String) {
    released.append(url)
  }

  /// What others have to be told is free.
  mutating func takeReleased() -> [String] {
    defer { released = [] }
    return released
  }

  /// How long a job of which another run is in charge waits for the next look; nil where it has
  /// waited for as long as it may.
  static func pause(since: Duration, now: Duration, limit: Duration) -> Duration? {
    now - since < limit ? pause : nil
  }

  private static let pause: Duration = .milliseconds(50)
}
