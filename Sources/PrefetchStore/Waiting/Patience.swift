internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// Limit and end of waits for other processes, set once by the command for all locks.
package struct Patience: Sendable {
  package var limit: Duration
  /// Deadline of the command.
  package var end: ContinuousClock.Instant?
  package var isCancelled: @Sendable () -> Bool
  /// Called once per wait, after two seconds.
  package var tell: @Sendable (String) -> Void

  package init(
    limit: Duration = .seconds(60),
    end: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    tell: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.limit = limit
    self.end = end
    self.isCancelled = isCancelled
    self.tell = tell
  }

  package static var current: Patience {
    get { shared.withLock(\.self) }
    set { shared.withLock { $0 = newValue } }
  }

  private static let shared = Mutex(Patience())

  /// Repeats an attempt until it succeeds; throws when the patience ends.
  static func wait(
    for path: @autoclosure () -> String,
    usedBy users: @autoclosure () -> [CacheUser] = [],
    until attempt: () throws(Failure) -> Bool
  ) throws(Failure) {
    guard try !attempt() else { return }
    var wait = Wait()
    repeat {
      if let failure = wait.pause(for: path(), usedBy: users) { throw failure }
    } while try !attempt()
  }

  /// End of the last failed wait; another wait of the same command fails at once.
  fileprivate static let lastEnd = Mutex<ContinuousClock.Instant?>(nil)
}

struct Wait {
  private let start = ContinuousClock.now
  private var isTold = false
  private var isFirst = true

  /// Sleeps briefly; returns the failure that ends the wait.
  mutating func pause(
    for path: @autoclosure () -> String,
    usedBy users: () -> [CacheUser]
  ) -> Failure? {
    let patience = Patience.current
    let now = ContinuousClock.now
    let waited = start.duration(to: now)
    if patience.isCancelled() {
      return Failure(.cancelled, "stopped while another process uses `\(path())`")
    }
    let isOver =
      waited >= patience.limit || patience.end.map { now >= $0 } == true
      || isFirst && Patience.lastEnd.withLock { $0.map { now - $0 < .seconds(1) } ?? false }
    if isOver {
      Patience.lastEnd.withLock { $0 = now }
      return Failure(.locked, "\(CacheUser.words(users())) has used `\(path())` for too long")
    }
    tell(for: path(), usedBy: users)
    isFirst = false
    // Short, so that a free resource is not idle for long.
    poll(nil, 0, waited < .milliseconds(20) ? 1 : 5)
    return nil
  }

  /// Reports the processes waited for, once the wait has taken long enough.
  mutating func tell(for path: @autoclosure () -> String, usedBy users: () -> [CacheUser]) {
    guard !isTold, start.duration(to: .now) >= Self.silence else { return }
    isTold = true
    let words = "waiting for \(CacheUser.words(users())), which uses `\(path())`"
    Patience.current.tell(words)
  }

  private static let silence: Duration = .seconds(2)
}
