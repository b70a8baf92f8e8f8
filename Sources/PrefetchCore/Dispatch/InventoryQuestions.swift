/// Work that waits for the inventory of the cache.
enum InventoryQuestion: Hashable, Sendable {
  /// Whether anything would go with a list that is not last time's.
  case judge(segment: Int)
  /// Whether every file that a stored index page names for a requirement is here.
  case page(document: Int)
  case plan(segment: Int, rejected: [RejectedEntry])
  /// Whether anything of a segment can be used although its manifest failed.
  case settle(segment: Int)
  case removals
}

/// Questions that wait until the run has looked at the cache, which it does once and only when asked.
struct InventoryQuestions: Sendable {
  private var waiting: [InventoryQuestion] = []
  private(set) var isTaken = false

  var isEmpty: Bool { waiting.isEmpty }

  /// Returns whether the cache has to be looked at now.
  mutating func add(_ question: InventoryQuestion) -> Bool {
    waiting.append(question)
    return waiting.count == 1
  }

  /// The cache was looked at: returns what has waited, in order.
  mutating func end() -> [InventoryQuestion] {
    isTaken = true
    defer { waiting = [] }
    return waiting
  }
}
