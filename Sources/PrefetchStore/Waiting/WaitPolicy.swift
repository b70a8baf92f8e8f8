internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// Limit and end of waits for other processes, set once by the command for all locks.
package struct WaitPolicy: Sendable {
  package var limit: Duration
  package var end: ContinuousClock.Instant?
  package var isCancelled: @Sendable () -> Bool
  /// Called once per wait, after two seconds.
  package var report: @Sendable (String) -> Void

  package init(
    limit: Duration = .seconds(60),
    end: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.limit = limit
    self.end = end
    self.isCancelled = isCancelled
    self.report = report
  }

  package static var current: WaitPolicy {
    get { shared.withLock(\.self) }
    set { shared.withLock { $0 = newValue } }
  }

  private static let shared = Mutex(WaitPolicy())

  /// Repeats an attempt until it succeeds; throws when the limit is reached.
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
  private var hasReported = false
  private var isFirst = true

  mutating func pause(
    for path: @autoclosure () -> String,
    usedBy users: () -> [CacheUser]
  ) -> Failure? {
    let policy = WaitPolicy.current
    let now = ContinuousClock.now
    let waited = start.duration(to: now)
    if policy.isCancelled() {
      return Failure(.cancelled, "stopped while another process uses `\(path())`")
    }
    let isOver =
      waited >= policy.limit || policy.end.map { now >= $0 } == true
      || isFirst && WaitPolicy.lastEnd.withLock { $0.map { now - $0 < .seconds(1) } ?? false }
    if isOver {
      WaitPolicy.lastEnd.withLock { $0 = now }
      return Failure(.locked, "\(CacheUser.words(users())) has used `\(path())` for too long")
    }
    reportOnce(for: path(), usedBy: users)
    isFirst = false
    // Short, so that a free resource is not idle for long.
    poll(nil, 0, waited < .milliseconds(20) ? 1 : 5)
    return nil
  }

  mutating func reportOnce(for path: @autoclosure () -> String, usedBy users: () -> [CacheUser]) {
    guard !hasReported, start.duration(to: .now) >= Self.silence else { return }
    hasReported = true
    let words = "waiting for \(CacheUser.words(users())), which uses `\(path())`"
    WaitPolicy.current.report(words)
  }

  private static let silence: Duration = .seconds(2)
}
