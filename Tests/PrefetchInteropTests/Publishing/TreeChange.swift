@unsafe @preconcurrency import Glibc
import Testing

/// Another program's change to a published file.
enum TreeChange: String, CaseIterable {
  case written, replaced, deleted, mode, time

  func make(of file: String) throws {
    switch self {
    case .written:
      let number = unsafe open(file, O_WRONLY | O_TRUNC)
      try #require(number >= 0)
      defer { close(number) }
      try #require(unsafe write(number, "other", 5) == 5)
    case .replaced:
      FileTree.write(Array("theirs".utf8), to: file + ".new")
      try #require(unsafe rename(file + ".new", file) == 0)
    case .deleted: try #require(unsafe unlink(file) == 0)
    case .mode: try #require(unsafe chmod(file, 0) == 0)
    case .time:
      let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
      try #require(unsafe utimensat(AT_FDCWD, file, times, 0) == 0)
    }
  }

  /// Changes one byte without changing size, time and mode, as a failing disk does.
  static func rot(_ path: String) throws {
    let status = try #require(FileTree.status(path))
    try #require(unsafe chmod(path, 0o644) == 0)
    let file = unsafe open(path, O_WRONLY)
    try #require(unsafe pwrite(file, "B", 1, 0) == 1)
    close(file)
    let times = [status.st_atim, status.st_mtim]
    try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    try #require(unsafe chmod(path, status.st_mode & 0o7777) == 0)
  }
}
