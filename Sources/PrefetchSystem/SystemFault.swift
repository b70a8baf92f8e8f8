internal import Glibc
internal import PrefetchCore

/// The kernel's error for a call about a file.
struct SystemFault: Error {
  var number: Int32
  /// Whether the path is a symbolic link that another user may have planted.
  var isForeignLink = false

  static var last: Self {
    Self(number: errno)
  }

  var reason: String {
    if isForeignLink {
      return "it is a symbolic link of another user in a folder that others may write"
    }
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}

extension Failure {
  init(_ fault: SystemFault, doing action: String, at path: String) {
    let code: ErrorCode =
      switch fault.number {
      case ENOSPC, EDQUOT: .diskFull
      case EACCES, EPERM, EROFS: .permission
      default: .disk
      }
    self.init(code, "cannot \(action) `\(path)`: \(fault.reason)")
  }
}
