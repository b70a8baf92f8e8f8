import PrefetchCore
import PrefetchSystem

final class EventStream: Sendable {
  private let queue: EventQueue

  init(_ destination: EventDestination) throws(Failure) {
    let output: PatientOutput
    switch destination {
    case .descriptor(let number): output = try PatientOutput(openDescriptor: number)
    case .file(let path): output = try PatientOutput(appendingTo: path)
    }
    queue = EventQueue { events, isAbandoned in
      for (number, event) in events.enumerated() {
        switch output.write(Array((event.line + "\n").utf8), unless: isAbandoned) {
        case .written: continue
        case .closed: return 0
        case .abandoned, .failed: return events.count - number
        }
      }
      return 0
    }
  }

  func push(_ event: EventQueue.Event) {
    queue.push(event)
  }

  /// Time for a slow reader at the end of a run.
  private static let drainTimeout: Duration = .seconds(2)

  func finish() -> [Diagnostic] {
    let dropped = queue.finish(within: Self.drainTimeout)
    guard dropped > 0 else { return [] }
    return [
      Diagnostic(
        "events.dropped",
        "\(Amounts.count(Int64(dropped), "event")) dropped, since `--events` was not read or could not be written in time",
        severity: .warning
      )
    ]
  }
}
