enum InventoryQuestion: Hashable, Sendable {
  /// Whether a changed list would remove anything.
  case judge(segment: Int)
  /// Whether the cache holds every file that a stored index page names.
  case page(document: Int)
  case plan(segment: Int, rejected: [RejectedEntry])
  /// Whether a segment has usable items although its manifest failed.
  case settle(segment: Int)
  case removals
}

/// Work that waits for the inventory, which the run reads once and only on demand.
struct InventoryQuestions: Sendable {
  private var waiting: [InventoryQuestion] = []
  private(set) var isTaken = false

  var isEmpty: Bool { waiting.isEmpty }

  /// Returns whether the inventory must be read now.
  mutating func add(_ question: InventoryQuestion) -> Bool {
    waiting.append(question)
    return waiting.count == 1
  }

  mutating func end() -> [InventoryQuestion] {
    isTaken = true
    defer { waiting = [] }
    return waiting
  }
}
