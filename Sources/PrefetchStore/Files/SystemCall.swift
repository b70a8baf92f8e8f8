internal import Glibc
internal import PrefetchCore

/// System calls, repeated after EINTR; return the result or the negative error number.
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
