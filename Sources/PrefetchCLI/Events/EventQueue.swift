import PrefetchSystem
import PrefetchTransfer
import Synchronization

/// Queue of events for a slow listener; its own thread delivers them, and a sender never waits.
final class EventQueue: Sendable {
  struct Event: Hashable, Sendable {
    var name: String
    var line: String

    /// Whether a later event supersedes this one.
    var isExpendable: Bool { name == "progress" }
    /// Whether the event ends the run; it is delivered even if others are dropped.
    var isLast: Bool { name == "run.finished" || name == "serve.stopped" }
  }

  private struct State {
    var waiting: [Event] = []
    var expendable = 0
    var isDelivering = false
    var thread: WorkerThread?
    var dropped = 0
    var deadline: ContinuousClock.Instant?
    var isHurried = false

    /// Queues an event; a full queue drops an expendable one, or the event itself.
    mutating func add(_ event: Event, within capacity: Int) {
      if waiting.count >= capacity {
        dropped += 1
        if expendable > 0, let oldest = waiting.firstIndex(where: \.isExpendable) {
          waiting.remove(at: oldest)
          expendable -= 1
        } else if event.isLast, !waiting.isEmpty {
          waiting.removeLast()
        } else {
          return
        }
      }
      waiting.append(event)
      if event.isExpendable { expendable += 1 }
    }

    mutating func drainAll() -> [Event] {
      defer { (waiting, expendable) = ([], 0) }
      return waiting
    }

    /// Whether the wait of ``finish(within:)`` is over; a stop signal shortens it.
    mutating func isOver(_ isStopping: Bool) -> Bool {
      guard var deadline else { return false }
      if isStopping, !isHurried {
        isHurried = true
        deadline = min(deadline, .now + EventQueue.hurry)
        self.deadline = deadline
      }
      return deadline <= .now
    }
  }

  static let capacity = 10_000
  /// Wait after a stop signal; a process has two seconds to end.
  private static let hurry = Duration.milliseconds(600)

  private let state = Mutex(State())
  private let capacity: Int
  private let isStopping: @Sendable () -> Bool
  private let deliver: @Sendable ([Event], _ isAbandoned: () -> Bool) -> Int

  init(
    capacity: Int = EventQueue.capacity,
    isStopping: @escaping @Sendable () -> Bool = { StopSignals.pending != nil },
    _ deliver: @escaping @Sendable ([Event], _ isAbandoned: () -> Bool) -> Int
  ) {
    self.capacity = capacity
    self.isStopping = isStopping
    self.deliver = deliver
  }

  func push(_ event: Event) {
    let (isNew, last) = state.withLock { state -> (Bool, WorkerThread?) in
      state.add(event, within: capacity)
      guard !state.isDelivering, !state.waiting.isEmpty else { return (false, nil) }
      state.isDelivering = true
      defer { state.thread = nil }
      return (true, state.thread)
    }
    guard isNew else { return }
    // The last thread has finished its work and is about to end.
    last?.join()
    let thread = WorkerThread { [self] in work() }
    guard thread == nil else { return state.withLock { $0.thread = thread } }
    state.withLock { state in
      state.isDelivering = false
      state.dropped += state.drainAll().count
    }
  }

  private func work() {
    while let events = drain() {
      let left = deliver(events) { isAbandoned }
      if left > 0 { state.withLock { $0.dropped += left } }
    }
  }

  private func drain() -> [Event]? {
    state.withLock { state in
      guard !state.waiting.isEmpty, !state.isOver(isStopping()) else {
        state.isDelivering = false
        return nil
      }
      return state.drainAll()
    }
  }

  private var isAbandoned: Bool {
    state.withLock { $0.isOver(isStopping()) }
  }

  /// Waits for delivery, at most `limit`; returns the number of lost events.
  func finish(within limit: Duration) -> Int {
    let thread = state.withLock { state in
      state.deadline = .now + limit
      return state.thread
    }
    thread?.join()
    return state.withLock { state in
      state.thread = nil
      return state.dropped + state.drainAll().count
    }
  }
}
