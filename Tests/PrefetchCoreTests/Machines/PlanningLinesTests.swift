import Testing

@testable import PrefetchCore

/// Steps that wait between a segment's list and its items.
@Suite("Lines of planning")
struct PlanningLinesTests {
  @Test("The inventory is read for the first question, and all are answered in order")
  func inventory() {
    var questions = InventoryQuestions()
    #expect(questions.isEmpty && !questions.isTaken)
    let looks = [
      questions.add(.judge(segment: 1)), questions.add(.plan(segment: 0, rejected: [])),
      questions.add(.removals),
    ]
    #expect(looks == [true, false, false] && !questions.isEmpty && !questions.isTaken)
    let answered = questions.end()
    #expect(answered == [.judge(segment: 1), .plan(segment: 0, rejected: []), .removals])
    #expect(questions.isEmpty && questions.isTaken)
  }

  /// Number of steps that each of two calls takes from a line of a given length.
  @Test(
    "Steps are taken in slices and in order",
    arguments: [
      (0, 4, 0, 0, true), (3, 4, 3, 0, true), (4, 4, 4, 0, true), (5, 4, 4, 1, true),
      (9, 4, 4, 4, false),
    ]
  )
  func slices(count: Int, size: Int, first: Int, second: Int, isTaken: Bool) {
    var line = StepLine((0..<count).map(Self.step))
    let slices = [line.take(size), line.take(size)]
    #expect(slices.map(\.count) == [first, second])
    let entries = slices.joined().map { Int($0.entry) }
    #expect(entries == Array(0..<first + second))
    #expect(line.isTaken == isTaken)
  }

  @Test("A step that waits for another list leaves the line and is taken once")
  func waiting() {
    var line = StepLine([Self.step(0), Self.step(1)])
    _ = line.take(2)
    #expect(!line.hasWaiting)
    line.wait(Self.step(1))
    #expect(line.isTaken && line.hasWaiting)
    let taken = [line.takeWaiting(), line.takeWaiting()]
    #expect(taken.map { $0.map(\.entry) } == [[1], []])
    #expect(!line.hasWaiting)
  }

  private static func step(_ entry: Int) -> PlannedStep {
    PlannedStep(entry: entry, row: nil, decision: .fetch, reason: .notStored)
  }
}
