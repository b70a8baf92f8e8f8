internal import Glibc
package import PrefetchCore

/// Protection of an item from removal and eviction, for good or until something happens.
package struct ItemLock: Hashable, Sendable {
  /// Nil = no time limit.
  package var until: Instant?
  /// Holds no longer than this process runs; nil = any.
  package var process: Int32?

  package init(until: Instant? = nil, process: Int32? = nil) {
    self.until = until
    self.process = process
  }
}

/// Which of the locks in the index still hold.
struct LockRule {
  let now: Instant

  /// Reads `locked`, `locked_until` and `locked_process`, which stand side by side.
  func isLocked(_ row: borrowing Statement, from column: Int32) -> Bool {
    guard row.flag(column) else { return false }
    if let until = row.instant(column + 1), until <= now { return false }
    guard let process = row.optionalNumber(column + 2) else { return true }
    // Signal 0 only asks; a process of another user answers that we may not.
    return kill(pid_t(truncatingIfNeeded: process), 0) == 0 || errno == EPERM
  }
}
