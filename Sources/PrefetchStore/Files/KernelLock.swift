internal import Glibc
internal import PrefetchCore

/// A kernel lock on a directory or file, held while this value lives, also within the process.
final class KernelLock {
  enum Mode {
    case shared
    case exclusive
  }

  private let file: OpenFile

  private init(_ file: OpenFile) {
    self.file = file
  }

  deinit {
    // Closing is not enough: a process that another thread is starting shares the open file until
    // it executes its own program.
    flock(file.number, LOCK_UN)
  }

  /// Returns nil after `timeout` ran out; file systems without locks grant everything.
  static func acquire(
    _ mode: Mode,
    on file: OpenFile,
    timeout: Duration = .zero,
    isCancelled: () -> Bool = { false }
  ) throws(Failure) -> KernelLock? {
    let operation = mode == .shared ? LOCK_SH : LOCK_EX
    let clock = ContinuousClock()
    let start = clock.now
    while true {
      let result = flock(file.number, operation | LOCK_NB)
      if result == 0 { return KernelLock(file) }
      switch errno {
      case EINTR:
        break
      case EWOULDBLOCK:
        guard start.duration(to: clock.now) < timeout else { return nil }
        // A short pause, since flock has no timeout.
        poll(nil, 0, 20)
      case ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS:
        return KernelLock(file)
      default:
        throw .system(errno, "lock", file.path)
      }
      guard !isCancelled() else { return nil }
    }
  }

  static func wait(
    _ mode: Mode,
    on file: OpenFile,
    for path: String,
    usedBy users: @autoclosure () -> [CacheUser] = []
  ) throws(Failure) -> KernelLock {
    var lock: KernelLock?
    try WaitPolicy.wait(for: path, usedBy: users()) { () throws(Failure) in
      lock = try acquire(mode, on: file)
      return lock != nil
    }
    guard let lock else { throw Failure(.internal, "waited without getting `\(path)`") }
    return lock
  }

  static func wait(
    _ mode: Mode,
    on folder: Folder,
    for path: String,
    usedBy users: @autoclosure () -> [CacheUser]
  ) throws(Failure) -> KernelLock {
    try wait(mode, on: folder.open(".", O_RDONLY | O_DIRECTORY), for: path, usedBy: users())
  }

  static func acquire(
    _ mode: Mode,
    on folder: Folder,
    timeout: Duration = .zero
  ) throws(Failure) -> KernelLock? {
    try acquire(mode, on: folder.open(".", O_RDONLY | O_DIRECTORY), timeout: timeout)
  }
}
