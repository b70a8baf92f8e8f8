import PrefetchTransfer
import Synchronization

/// What is told to somebody who may be slow to listen.
///
/// Whoever tells never waits: there is room for so many, and a thread of their own delivers them.
final class EventQueue: Sendable {
  struct Event: Hashable, Sendable {
    var name: String
    var line: String

    /// The next one tells the same and more.
    var isExpendable: Bool { name == "progress" }
  }

  private struct State {
    var waiting: [Event] = []
    var isDelivering = false
    var thread: WorkerThread?
    var dropped = 0
    var deadline: ContinuousClock.Instant?
  }

  static let capacity = 10_000

  private let state = Mutex(State())
  private let capacity: Int
  /// Returns how many of them were not delivered.
  private let deliver: @Sendable ([Event], _ isAbandoned: () -> Bool) -> Int

  init(
    capacity: Int = EventQueue.capacity,
    _ deliver: @escaping @Sendable ([Event], _ isAbandoned: () -> Bool) -> Int
  ) {
    self.capacity = capacity
    self.deliver = deliver
  }

  func push(_ event: Event) {
    let (isNew, last) = state.withLock { state -> (Bool, WorkerThread?) in
      if state.waiting.count >= capacity {
        state.dropped += 1
        guard let oldest = state.waiting.firstIndex(where: \.isExpendable) else {
          return (false, nil)
        }
        state.waiting.remove(at: oldest)
      }
      state.waiting.append(event)
      guard !state.isDelivering else { return (false, nil) }
      state.isDelivering = true
      defer { state.thread = nil }
      return (true, state.thread)
    }
    guard isNew else { return }
    // It has nothing more to do but to end.
    last?.join()
    let thread = WorkerThread { [self] in work() }
    guard thread == nil else { return state.withLock { $0.thread = thread } }
    state.withLock { state in
      state.isDelivering = false
      state.dropped += state.waiting.count
      state.waiting = []
    }
  }

  private func work() {
    while let events = take() {
      let left = deliver(events) { isAbandoned }
      if left > 0 { state.withLock { $0.dropped += left } }
    }
  }

  private func take() -> [Event]? {
    state.withLock { state in
      guard !state.waiting.isEmpty, !Self.isOver(state) else {
        state.isDelivering = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private var isAbandoned: Bool {
    state.withLock { Self.isOver($0) }
  }

  private static func isOver(_ state: State) -> Bool {
    state.deadline.map { $0 <= .now } ?? false
  }

  /// Waits for the rest, as long as that; returns how many nobody has been told.
  func finish(within limit: Duration) -> Int {
    let thread = state.withLock { state in
      state.deadline = .now + limit
      return state.thread
    }
    thread?.join()
    return state.withLock { state in
      defer { (state.waiting, state.thread) = ([], nil) }
      return state.dropped + state.waiting.count
    }
  }
}
