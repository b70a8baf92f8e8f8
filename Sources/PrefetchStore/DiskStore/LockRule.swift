internal import Glibc
internal import PrefetchCore

/// Which items are protected from removal and eviction at the moment.
struct LockRule {
  private var items: Set<Int64> = []

  /// Of an index that has not been asked yet.
  init() {}

  init(_ database: Database, now: Instant) throws(Failure) {
    let rows = try database.prepare("SELECT item, until, process, begun FROM item_locks")
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

  /// When a process began, in the kernel's own count, so that another one that is given its number
  /// is not taken for it; 0 where that is not known, nil where there is no such process.
  static func beginning(of process: pid_t) -> Int64? {
    // Signal 0 only asks; a process of another user answers that we may not.
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    guard let folder = (try? Folder(at: "/proc/\(process)")) ?? nil,
      let file = try? folder.open("stat", O_RDONLY)
    else { return 0 }
    var buffer = [UInt8](repeating: 0, count: 1024)
    guard let count = try? file.read(into: &buffer, at: 0) else { return 0 }
    // The second word is a name in parentheses, which may hold anything.
    let words = String(decoding: buffer[..<count], as: UTF8.self)
    guard let end = words.lastIndex(of: ")") else { return 0 }
    let rest = words[end...].split(separator: " ")
    return rest.count > 20 ? Int64(rest[20]) ?? 0 : 0
  }

  private static func isAlive(_ process: pid_t, begun: Int64) -> Bool {
    guard let beginning = beginning(of: process) else { return false }
    return begun == 0 || beginning == 0 || beginning == begun
  }
}
