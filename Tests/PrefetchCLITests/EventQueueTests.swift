import Synchronization
import Testing

@testable import PrefetchCLI

@Suite("Events for slow listeners")
struct EventQueueTests {
  /// A listener that blocks until it is released.
  private final class Listener: Sendable {
    private struct State {
      var heard: [String] = []
      var isOpen = false
      var batches = 0
    }

    private let state = Mutex(State())

    var heard: [String] { state.withLock { $0.heard } }
    var batches: Int { state.withLock { $0.batches } }

    func open() {
      state.withLock { $0.isOpen = true }
    }

    func hear(_ events: [EventQueue.Event], unless isAbandoned: () -> Bool) -> Int {
      state.withLock { $0.batches += 1 }
      while !state.withLock({ $0.isOpen }) {
        guard !isAbandoned() else { return events.count }
      }
      state.withLock { $0.heard += events.map(\.line) }
      return 0
    }
  }

  private func queue(
    _ listener: Listener,
    capacity: Int,
    isStopping: @escaping @Sendable () -> Bool = { false }
  ) -> EventQueue {
    EventQueue(capacity: capacity, isStopping: isStopping) { listener.hear($0, unless: $1) }
  }

  /// Queues a first event that the listener is handling, while all others wait.
  private func begin(_ queue: EventQueue, _ listener: Listener) {
    push("first", to: queue)
    while listener.batches == 0 {}
  }

  private func push(_ line: String, named name: String = "cache.added", to queue: EventQueue) {
    queue.push(EventQueue.Event(name: name, line: line))
  }

  @Test("A queue of events keeps its capacity and counts dropped events exactly")
  func bound() {
    let listener = Listener()
    let queue = queue(listener, capacity: 3)
    begin(queue, listener)
    for number in 1...10 { push("\(number)", to: queue) }
    listener.open()
    #expect(queue.finish(within: .seconds(60)) == 7)
    #expect(listener.heard == ["first", "1", "2", "3"])
  }

  @Test("Progress events are dropped first, and the last event is always delivered")
  func order() {
    let listener = Listener()
    let queue = queue(listener, capacity: 4)
    begin(queue, listener)
    for number in 1...3 { push("p\(number)", named: "progress", to: queue) }
    for number in 1...3 { push("\(number)", to: queue) }
    push("p4", named: "progress", to: queue)
    push("4", to: queue)
    push("5", to: queue)
    push("end", named: "run.finished", to: queue)
    listener.open()
    // All progress events and the last two events before the end were dropped.
    #expect(queue.finish(within: .seconds(60)) == 6)
    #expect(listener.heard == ["first", "1", "2", "3", "end"])
  }

  @Test("A queue of events ends its wait for a listener and counts the missed events")
  func missedEventsCounted() {
    let listener = Listener()
    let queue = queue(listener, capacity: 10)
    begin(queue, listener)
    for number in 1...20 { push("\(number)", to: queue) }
    #expect(queue.finish(within: .zero) == 21)
    #expect(listener.heard == [])
  }

  @Test("A terminating process does not wait for its listeners")
  func hurried() {
    let listener = Listener()
    let queue = queue(listener, capacity: 10) { true }
    begin(queue, listener)
    #expect(queue.finish(within: .seconds(3600)) == 1)
  }

  @Test("An idle listener is woken by the next event")
  func again() {
    let listener = Listener()
    listener.open()
    let queue = queue(listener, capacity: 10)
    for number in 1...100 {
      push("\(number)", to: queue)
      while listener.heard.count < number {}
    }
    #expect(queue.finish(within: .seconds(60)) == 0)
    #expect(listener.heard == (1...100).map(String.init))
  }
}
