enum InventoryRequest: Hashable, Sendable {
  /// Whether a frozen segment has every locked item, so that its list need not be asked.
  case discover(segment: Int)
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
struct InventoryRequests: Sendable {
  private var waiting: [InventoryRequest] = []
  private(set) var isRead = false

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ request: InventoryRequest) -> Bool {
    waiting.append(request)
    return waiting.count == 1
  }

  mutating func end() -> [InventoryRequest] {
    isRead = true
    defer { waiting = [] }
    return waiting
  }
}
