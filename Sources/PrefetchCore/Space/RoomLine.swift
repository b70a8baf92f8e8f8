/// Items that gave their places on the wire to others for want of room.
struct RoomLine: Sendable {
  /// They wait until more is known, or until others turn out smaller.
  private var waiting: [Int] = []
  /// There was no room for them when their turn came.
  private var parked: [Int] = []
  /// Whether nothing is under way that could leave room for these.
  private(set) var isLastLook = false
  /// Whether some of those who wait may have more room than before.
  private var hasNews = false

  var isEmpty: Bool {
    waiting.isEmpty && parked.isEmpty
  }

  var isWaiting: Bool { !waiting.isEmpty }

  /// Whether only those are left for whom there was no room.
  var isParkedOnly: Bool {
    waiting.isEmpty && !parked.isEmpty
  }

  mutating func wait(_ item: Int) {
    waiting.append(item)
  }

  mutating func park(_ item: Int) {
    parked.append(item)
  }

  /// Others want less than was thought.
  mutating func tell() {
    hasNews = !waiting.isEmpty
  }

  mutating func takeWaiting() -> [Int] {
    defer { waiting = [] }
    return waiting
  }

  mutating func takeNews() -> Bool {
    defer { hasNews = false }
    return hasNews
  }

  mutating func takeParked() -> [Int] {
    defer { (parked, isLastLook) = ([], true) }
    return parked
  }

  /// One of those found room after all, which may leave room for the others once more.
  mutating func foundRoom() {
    isLastLook = false
  }

  mutating func drain() -> [Int] {
    defer { (waiting, parked) = ([], []) }
    return waiting + parked
  }
}
