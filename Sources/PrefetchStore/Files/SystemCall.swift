internal import Glibc
internal import PrefetchCore

/// Calls of the kernel, repeated while signals interrupt them.
///
/// Each gives the call's own result, or the negative error number, as the kernel itself does.
enum SystemCall {
  static func number(_ call: () -> Int32) -> Int32 {
    while true {
      let result = call()
      guard result < 0 else { return result }
      let error = errno
      guard error == EINTR else { return -error }
    }
  }

  static func count(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      guard result < 0 else { return result }
      let error = errno
      guard error == EINTR else { return -Int(error) }
    }
  }

  /// For calls whose every error is a fault.
  @discardableResult
  static func require(
    _ deed: String,
    _ path: @autoclosure () -> String,
    _ call: () -> Int32
  ) throws(Failure) -> Int32 {
    let result = number(call)
    guard result >= 0 else { throw .system(-result, deed, path()) }
    return result
  }
}

extension Failure {
  /// What an error number means for the user who has to act: room, rights or the disk itself.
  static func system(_ error: Int32, _ deed: String, _ path: String) -> Failure {
    let code: ErrorCode =
      switch error {
      case ENOSPC, EDQUOT, EFBIG: .diskFull
      case EACCES, EPERM, EROFS: .permission
      default: .disk
      }
    let reason = unsafe String(cString: strerror(error))
    return Failure(code, "cannot \(deed) `\(path)`: \(reason)")
  }
}
