internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A process that changes a cache, read from `CACHE/locks/claims.d` for messages.
package struct CacheUser: Hashable, Sendable {
  var process: pid_t
  var start: Instant
  var command: String

  package static var command: String {
    get { ownCommand.withLock(\.self) }
    set { ownCommand.withLock { $0 = newValue } }
  }

  private static let ownCommand = Mutex("")

  /// Returns stopped processes, which block others; if none is stopped, all living ones.
  static func others(in folder: Folder?) -> [CacheUser] {
    guard let folder, let names = try? folder.names() else { return [] }
    let users = names.compactMap { name in
      pid_t(name).flatMap { $0 == getpid() ? nil : read(name, process: $0, in: folder) }
    }
    let living = users.sorted { $0.start < $1.start }
    let stopped = living.filter(\.isStopped)
    return stopped.isEmpty ? living : stopped
  }

  static func others(inCache root: Folder) -> [CacheUser] {
    others(in: try? root.folder(CacheLayout.locksName)?.folder(CacheLayout.usersName))
  }

  static func words(_ users: [CacheUser]) -> String {
    guard let first = users.first else { return "another process" }
    let command = first.command.isEmpty ? "" : " (`prefetch \(first.command)`"
    let since = "since \(Timestamp.format(first.start))\(first.isStopped ? ", stopped" : ""))"
    let more = users.count > 1 ? " or \(users.count - 1) more" : ""
    return "process \(first.process)\(command.isEmpty ? " (" : command + ", ")\(since)\(more)"
  }

  private var isStopped: Bool {
    guard let folder = try? Folder(at: "/proc/\(process)"),
      let file = try? folder.open("stat", O_RDONLY)
    else { return false }
    let text = Self.text(of: file)
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first == "T"
  }

  /// Whether the process lives that wrote the file; its number may be another process's by now.
  fileprivate static func isInUse(_ file: OpenFile) -> Bool {
    flock(file.number, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private static func read(_ name: String, process: pid_t, in folder: Folder) -> CacheUser? {
    guard let file = try? folder.open(name, O_RDONLY | O_NONBLOCK), isInUse(file)
    else { return nil }
    let words = text(of: file).split(separator: " ", maxSplits: 1)
    guard let start = words.first.flatMap({ Int64($0) }) else { return nil }
    return CacheUser(
      process: process,
      start: Instant(milliseconds: start),
      command: words.count > 1 ? String(words[1].prefix { $0 != "\n" }) : ""
    )
  }

  private static func text(of file: OpenFile) -> String {
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = (try? file.read(into: &buffer, at: 0)) ?? 0
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}

/// File that names this process while it may change a cache, locked until it ends.
final class CacheUserFile {
  /// Folder of these files; nil when it cannot be made, so that messages name no process.
  let folder: Folder?
  private let key: String

  private struct Use {
    var file: OpenFile?
    var stores = 0
  }

  /// A process that was forked has another number than its parent.
  private static var name: String { String(getpid()) }
  /// Files of this process by folder; its last store removes the file.
  private static let uses = Mutex<[String: Use]>([:])

  init(in locks: Folder) {
    let folder = (try? locks.makingFolder(CacheLayout.usersName))?.0
    self.folder = folder
    key = locks.path
    Self.uses.withLock { uses in
      var use = uses[locks.path] ?? Use(file: folder.flatMap(Self.makeFile))
      use.stores += 1
      uses[locks.path] = use
    }
  }

  deinit {
    let isLast = Self.uses.withLock { uses in
      uses[key]?.stores -= 1
      guard uses[key]?.stores == 0 else { return false }
      uses[key] = nil
      return true
    }
    if isLast { _ = try? folder?.remove(Self.name) }
  }

  private static func makeFile(in folder: Folder) -> OpenFile? {
    guard let file = try? folder.open(name, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644) else {
      return nil
    }
    flock(file.number, LOCK_EX | LOCK_NB)
    let text = Array("\(RunLock.now) \(CacheUser.command)\n".utf8)
    try? file.write(unsafe text.span.bytes)
    return file
  }

  func tidy() {
    guard let folder else { return }
    for name in (try? folder.names()) ?? [] {
      guard pid_t(name) != nil, let file = try? folder.open(name, O_RDONLY | O_NONBLOCK),
        !CacheUser.isInUse(file)
      else { continue }
      _ = try? folder.remove(name)
    }
  }
}
