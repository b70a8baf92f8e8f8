internal import Glibc
package import PrefetchCore

extension DiskSpace {
  init(of folder: Folder) throws(Failure) {
    var status = statvfs()
    try SystemCall.require("examine", folder.path) { unsafe fstatvfs(folder.number, &status) }
    self.init(status)
  }

  package init?(nearest path: String) {
    var path = path
    var status = statvfs()
    while unsafe statvfs(path, &status) != 0 {
      guard let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    self.init(status)
  }

  private init(_ status: statvfs) {
    let unit = UInt64(status.f_frsize)
    let bytes = { (blocks: UInt64) in
      Int64(clamping: blocks.multipliedReportingOverflow(by: unit).partialValue)
    }
    self.init(free: bytes(UInt64(status.f_bavail)), size: bytes(UInt64(status.f_blocks)))
  }
}
