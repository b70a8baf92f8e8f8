/// Planned steps of a segment that are not items yet.
struct StepQueue: Sendable {
  private var steps: [PlannedStep] = []
  private var next = 0
  /// Steps that wait for the lists of other segments with the same body.
  private var waiting: [PlannedStep] = []

  init(_ steps: [PlannedStep] = []) {
    self.steps = steps
  }

  var isExhausted: Bool { next == steps.count }

  var hasWaiting: Bool { !waiting.isEmpty }

  mutating func dequeue(_ count: Int) -> ArraySlice<PlannedStep> {
    let slice = steps[next...].prefix(count)
    next = slice.endIndex
    if isExhausted { (steps, next) = ([], 0) }
    return slice
  }

  mutating func wait(_ step: PlannedStep) {
    waiting.append(step)
  }

  mutating func drainWaiting() -> [PlannedStep] {
    defer { waiting = [] }
    return waiting
  }
}
