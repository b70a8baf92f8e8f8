internal import Glibc
internal import PrefetchCore

/// Items that are protected from removal and eviction at the moment.
struct LockRule {
  private var items: Set<Int64> = []

  init() {}

  init(_ database: Database, now: Instant) throws(Failure) {
    let rows = database.prepare("SELECT item, until, process, begun FROM item_locks")
    while try rows.step() {
      if let until = rows.instant(1), until <= now { continue }
      let process = pid_t(truncatingIfNeeded: rows.number(2))
      guard process == 0 || Self.isAlive(process, begun: rows.number(3)) else { continue }
      items.insert(rows.number(0))
    }
  }

  func isLocked(_ item: Int64) -> Bool {
    !items.isEmpty && items.contains(item)
  }

  /// Returns a process's start in kernel ticks; 0 when unknown, nil when there is no such process.
  static func beginning(of process: pid_t) -> Int64? {
    // Signal 0 only checks; `EPERM` means that the process belongs to another user.
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    guard let folder = (try? Folder(at: "/proc/\(process)")) ?? nil,
      let file = try? folder.open("stat", O_RDONLY)
    else { return 0 }
    var buffer = [UInt8](repeating: 0, count: 1024)
    guard let count = try? file.read(into: &buffer, at: 0) else { return 0 }
    // The second word is a name in parentheses, which may contain anything.
    let words = String(decoding: buffer[..<count], as: UTF8.self)
    guard let end = words.lastIndex(of: ")") else { return 0 }
    let rest = words[end...].split(separator: " ")
    return rest.count > 20 ? Int64(rest[20]) ?? 0 : 0
  }

  /// Returns whether a process lives that began at these kernel ticks; with 0 any process counts.
  static func isAlive(_ process: pid_t, begun: Int64) -> Bool {
    guard let beginning = beginning(of: process) else { return false }
    return begun == 0 || beginning == 0 || beginning == begun
  }
}
