internal import CLinux
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
    // The reason lies in the folder, and is the same for all names in it.
    if code == .permission, deed == "create", let folder = folder(of: path) {
      return Failure(code, "cannot write into \(folder): \(reason)")
    }
    return Failure(code, "cannot \(deed) `\(path)`: \(reason)")
  }

  /// Returns the folder of a path with its owner; nil for one that cannot be looked at.
  private static func folder(of path: String) -> String? {
    let folder = String(PathText.split(path).folder)
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else { return nil }
    return status.st_uid == geteuid()
      ? "`\(folder)`" : "`\(folder)`, which belongs to user \(status.st_uid)"
  }
}
