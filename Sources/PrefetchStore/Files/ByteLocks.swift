internal import Glibc
internal import PrefetchCore

/// Kernel locks on bytes of a file, which need not exist; they also exclude within a process.
final class ByteLocks: Sendable {
  private let file: OpenFile

  init(_ file: OpenFile) {
    self.file = file
  }

  deinit {
    release(0..<Self.end)
  }

  static let end = Int64.max

  /// Returns false when another open file has a lock; always true on file systems without locks.
  func acquire(_ bytes: Range<Int64>) throws(Failure) -> Bool {
    let result = call(Self.set, F_WRLCK, bytes)
    switch -result {
    case EAGAIN, EACCES: return false
    case ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS: return true
    default:
      guard result >= 0 else { throw .system(-result, "lock", file.path) }
      return true
    }
  }

  func release(_ bytes: Range<Int64>) {
    _ = call(Self.set, F_UNLCK, bytes)
  }

  func isLockedElsewhere(_ bytes: Range<Int64>) -> Bool {
    var lock = Self.lock(F_WRLCK, bytes)
    let number = file.number
    let result = SystemCall.number { unsafe Glibc.fcntl(number, Self.get, &lock) }
    return result >= 0 && lock.l_type != Int16(F_UNLCK)
  }

  func lengthOfLock(at byte: Int64) -> Int64? {
    var lock = Self.lock(F_WRLCK, byte..<byte + 1)
    let number = file.number
    let result = SystemCall.number { unsafe Glibc.fcntl(number, Self.get, &lock) }
    guard result >= 0, lock.l_type != Int16(F_UNLCK) else { return nil }
    return lock.l_len == 0 ? Self.end : Int64(lock.l_len)
  }

  private func call(_ command: Int32, _ type: Int32, _ bytes: Range<Int64>) -> Int32 {
    SystemCall.number { Self.fcntl(file.number, command, type, bytes) }
  }

  private static func fcntl(
    _ number: Int32,
    _ command: Int32,
    _ type: Int32,
    _ bytes: Range<Int64>
  ) -> Int32 {
    var lock = lock(type, bytes)
    return unsafe Glibc.fcntl(number, command, &lock)
  }

  private static func lock(_ type: Int32, _ bytes: Range<Int64>) -> flock {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(bytes.lowerBound)
    lock.l_len = off_t(bytes.count)
    return lock
  }

  /// `F_OFD_GETLK` and `F_OFD_SETLK`, which the headers declare for `_GNU_SOURCE` only.
  private static let get: Int32 = 36
  private static let set: Int32 = 37
}
