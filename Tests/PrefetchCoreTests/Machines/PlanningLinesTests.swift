import Testing

@testable import PrefetchCore

/// Steps that wait between a segment's list and its items.
@Suite("Lines of planning")
struct PlanningLinesTests {
  @Test("The inventory is read for the first question, and all are answered in order")
  func inventory() {
    var requests = InventoryRequests()
    #expect(requests.isEmpty && !requests.isRead)
    let looks = [
      requests.add(.judge(segment: 1)), requests.add(.plan(segment: 0, rejected: [])),
      requests.add(.removals),
    ]
    #expect(looks == [true, false, false] && !requests.isEmpty && !requests.isRead)
    let pending = requests.end()
    #expect(pending == [.judge(segment: 1), .plan(segment: 0, rejected: []), .removals])
    #expect(requests.isEmpty && requests.isRead)
  }

  /// Number of steps that each of two calls takes from a line of a given length.
  @Test(
    "Steps are taken in slices and in order",
    arguments: [
      (0, 4, 0, 0, true), (3, 4, 3, 0, true), (4, 4, 4, 0, true), (5, 4, 4, 1, true),
      (9, 4, 4, 4, false),
    ]
  )
  func slices(count: Int, size: Int, first: Int, second: Int, isExhausted: Bool) {
    var queue = StepQueue((0..<count).map(Self.step))
    let slices = [queue.dequeue(size), queue.dequeue(size)]
    #expect(slices.map(\.count) == [first, second])
    let entries = slices.joined().map { Int($0.entry) }
    #expect(entries == Array(0..<first + second))
    #expect(queue.isExhausted == isExhausted)
  }

  @Test("A step that waits for another list leaves the line and is taken once")
  func waiting() {
    var queue = StepQueue([Self.step(0), Self.step(1)])
    _ = queue.dequeue(2)
    #expect(!queue.hasWaiting)
    queue.wait(Self.step(1))
    #expect(queue.isExhausted && queue.hasWaiting)
    let waiting = [queue.drainWaiting(), queue.drainWaiting()]
    #expect(waiting.map { $0.map(\.entry) } == [[1], []])
    #expect(!queue.hasWaiting)
  }

  private static func step(_ entry: Int) -> PlannedStep {
    PlannedStep(entry: entry, row: nil, decision: .fetch, reason: .notStored)
  }
}
