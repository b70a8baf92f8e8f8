internal import Glibc
internal import PrefetchCore

/// What is free on a file system for such as us.
enum FreeSpace {
  static func of(_ folder: Folder) throws(Failure) -> Int64 {
    var status = statvfs()
    try SystemCall.require("examine", folder.path) { unsafe fstatvfs(folder.number, &status) }
    return bytes(status)
  }

  /// Of where a folder would be made: that of the nearest one above it that is there.
  static func ofNearest(_ path: String) -> Int64? {
    var path = path
    while true {
      var status = statvfs()
      if unsafe statvfs(path, &status) == 0 { return bytes(status) }
      guard let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }

  private static func bytes(_ status: statvfs) -> Int64 {
    Int64(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
        by: UInt64(status.f_frsize)
      ).partialValue
    )
  }
}
