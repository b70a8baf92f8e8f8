internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// How long this process waits for others that use the same cache or state, and what ends that.
///
/// Signals, deadline and the user's patience concern the whole process, so its command says them once, and
/// every lock asks here.
package struct Patience: Sendable {
  package var limit: Duration
  /// When the command has to end.
  package var end: ContinuousClock.Instant?
  package var isCancelled: @Sendable () -> Bool
  /// Told once in each wait, after two seconds.
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

  /// That of this process.
  package static var current: Patience {
    get { shared.withLock(\.self) }
    set { shared.withLock { $0 = newValue } }
  }

  private static let shared = Mutex(Patience())

  /// Returns when an attempt succeeds; throws when the patience ends.
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

  /// When the last wait in vain ended: what the same command wants next it does not wait for again.
  fileprivate static let lastEnd = Mutex<ContinuousClock.Instant?>(nil)
}

/// One wait for another process.
struct Wait {
  private let start = ContinuousClock.now
  private var isTold = false
  private var isFirst = true

  /// Sleeps a moment; gives what ends the wait.
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
    // Short, so that what is waited for is never idle for long.
    poll(nil, 0, waited < .milliseconds(20) ? 1 : 5)
    return nil
  }

  /// Names whom it waits for, once it has taken long enough.
  mutating func tell(for path: @autoclosure () -> String, usedBy users: () -> [CacheUser]) {
    guard !isTold, start.duration(to: .now) >= Self.silence else { return }
    isTold = true
    let words = "waiting for \(CacheUser.words(users())), which uses `\(path())`"
    Patience.current.tell(words)
  }

  private static let silence: Duration = .seconds(2)
}
