internal import CLinux
internal import Glibc
internal import PrefetchCore

/// Which stored bodies may get the mode and the time of a mirror's file, and a second name there.
///
/// A body has one time, that of the first name. A later name with another gets a copy, and
/// so does a mirror where another tree has linked the body as it was.
final class MirrorLinks {
  /// Those that were made ready and may have no second name yet.
  private var ready: Set<UInt64> = []

  /// False where the file has to be a copy.
  func makeReady(_ name: String, in home: Folder, modified: Int64?) throws(Failure) -> Bool {
    guard let status = try home.status(of: name), status.kind == .file else {
      throw Failure(.storeDamaged, "the stored body `sha256:\(name)` is missing")
    }
    if status.linkCount == 1, !ready.contains(status.inode) {
      guard home.makePlain(name, modified: modified) else { return false }
      ready.insert(status.inode)
      return true
    }
    return status.mode == Folder.plainMode && (modified == nil || status.modified == modified)
  }

  /// What was made ready has its names, or will not get them.
  func forget() {
    ready.removeAll(keepingCapacity: true)
  }
}

extension Folder {
  /// Of files that users may write to.
  static let plainMode: mode_t = 0o644

  /// False where that is not for this user to do.
  fileprivate func makePlain(_ name: String, modified: Int64?) -> Bool {
    guard SystemCall.number({ unsafe fchmodat(number, name, Self.plainMode, 0) }) == 0 else {
      return false
    }
    return modified.map { setModified($0, of: name) } ?? true
  }

  /// In nanoseconds since 1970; false where that is not for this user to do.
  func setModified(_ time: Int64, of name: String) -> Bool {
    let times = FileTimes.modified(time)
    return SystemCall.number {
      unsafe utimensat(number, name, times, AT_SYMLINK_NOFOLLOW)
    } == 0
  }
}

extension OpenFile {
  /// A time that cannot be set is no reason to have no file.
  func setModified(_ time: Int64) {
    let times = FileTimes.modified(time)
    _ = unsafe futimens(number, times)
  }
}

private enum FileTimes {
  /// Both times as the kernel takes them; that of the last reading stays.
  static func modified(_ time: Int64) -> [timespec] {
    let second: Int64 = 1_000_000_000
    let rest = (time % second + second) % second
    return [
      timespec(tv_sec: 0, tv_nsec: omitted),
      timespec(tv_sec: Int((time - rest) / second), tv_nsec: Int(rest)),
    ]
  }

  /// `UTIME_OMIT`, which the module does not have.
  private static let omitted = (1 << 30) - 2
}
