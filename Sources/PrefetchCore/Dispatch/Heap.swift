/// Binary heap with the least element first.
struct Heap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  var isEmpty: Bool {
    elements.isEmpty
  }

  var first: Element? {
    elements.first
  }

  func contains(where isMeant: (Element) -> Bool) -> Bool {
    elements.contains(where: isMeant)
  }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() -> Element? {
    guard let first = elements.first else { return nil }
    let last = elements.removeLast()
    guard !elements.isEmpty else { return first }
    elements[0] = last
    sink()
    return first
  }

  mutating func drain() -> [Element] {
    defer { elements = [] }
    return elements
  }

  mutating func removeAll(where isMeant: (Element) -> Bool) {
    let kept = elements.filter { !isMeant($0) }
    guard kept.count < elements.count else { return }
    // A sorted array is a heap.
    elements = kept.sorted()
  }

  private mutating func sink() {
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < elements.count else { return }
      let right = left + 1
      let child = right < elements.count && elements[right] < elements[left] ? right : left
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
