internal import Glibc

struct FileStatus: Hashable {
  enum FileType {
    case file
    case folder
    case link
    case other
  }

  let kind: FileType
  let mode: mode_t
  let owner: uid_t
  let size: Int64
  let linkCount: Int
  let device: UInt64
  let inode: UInt64
  /// Modification time in ns since 1970; a folder's moves when a name is added or removed.
  let modified: Int64
  /// Status change time in ns since 1970, which a new link moves, unlike `modified`.
  let changed: Int64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    mode = status.st_mode & 0o7777
    owner = status.st_uid
    size = Int64(status.st_size)
    linkCount = Int(status.st_nlink)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
  }

  func isSameFile(as other: FileStatus) -> Bool {
    inode == other.inode && device == other.device
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
