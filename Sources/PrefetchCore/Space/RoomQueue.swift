/// Items that left the queue because the cache or the disk has no room for them yet.
struct RoomQueue: Sendable {
  /// Items that wait for a reading, or for reservations of other items to shrink.
  private var waiting: [Int] = []
  /// Items that did not fit; they are tried once more when nothing else is in flight.
  private var parked: [Int] = []
  private(set) var isLastLook = false
  private var hasNews = false

  var isEmpty: Bool {
    waiting.isEmpty && parked.isEmpty
  }

  var isWaiting: Bool { !waiting.isEmpty }

  var isParkedOnly: Bool {
    waiting.isEmpty && !parked.isEmpty
  }

  mutating func wait(_ item: Int) {
    waiting.append(item)
  }

  mutating func park(_ item: Int) {
    parked.append(item)
  }

  mutating func announceRoom() {
    hasNews = !waiting.isEmpty
  }

  mutating func drainWaiting() -> [Int] {
    defer { waiting = [] }
    return waiting
  }

  mutating func consumeNews() -> Bool {
    defer { hasNews = false }
    return hasNews
  }

  mutating func drainParked() -> [Int] {
    defer { (parked, isLastLook) = ([], true) }
    return parked
  }

  /// Records that an item fits; items parked from now on get another last try.
  mutating func foundRoom() {
    isLastLook = false
  }

  mutating func drain() -> [Int] {
    defer { (waiting, parked) = ([], []) }
    return waiting + parked
  }
}
