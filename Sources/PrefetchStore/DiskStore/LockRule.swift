internal import Glibc
internal import PrefetchCore

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
