internal import Glibc

package enum ProcessRights {
  package static var isRoot: Bool {
    geteuid() == 0
  }

  /// Returns why users other than root can write the file; nil when none can.
  package static func otherWriter(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    if status.st_uid != 0 { return "belongs to another user" }
    if status.st_mode & S_IWOTH != 0 { return "may be written by others" }
    return status.st_mode & S_IWGRP != 0 && status.st_gid != 0 ? "may be written by a group" : nil
  }
}
