internal import CLinux
internal import Glibc
internal import PrefetchCore

/// Stored bodies that a mirror may hard-link with its mode and time.
///
/// A body has one time, that of its first name; another time or tree requires a copy.
final class MirrorLinks {
  /// Inodes of prepared bodies that may have no second name yet.
  private var ready: Set<UInt64> = []

  /// Prepares a body for linking; returns false when the file has to be a copy.
  func makeReady(_ name: String, in home: Folder, modified: Int64?) throws(Failure) -> Bool {
    guard let status = try home.status(of: name), status.kind == .file else {
      throw Failure(.storeDamaged, "the stored body `sha256:\(name)` is missing")
    }
    if status.linkCount == 1, !ready.contains(status.inode) {
      guard home.makeLinkable(name, modified: modified) else { return false }
      ready.insert(status.inode)
      return true
    }
    return status.mode == Folder.writableMode && (modified == nil || status.modified == modified)
  }

  func forget() {
    ready.removeAll(keepingCapacity: true)
  }
}

extension Folder {
  static let writableMode: mode_t = 0o644

  fileprivate func makeLinkable(_ name: String, modified: Int64?) -> Bool {
    guard SystemCall.number({ unsafe fchmodat(number, name, Self.writableMode, 0) }) == 0 else {
      return false
    }
    return modified.map { setModified($0, of: name) } ?? true
  }

  func setModified(_ time: Int64, of name: String) -> Bool {
    let times = FileTimes.modified(time)
    return SystemCall.number {
      unsafe utimensat(number, name, times, AT_SYMLINK_NOFOLLOW)
    } == 0
  }
}

extension OpenFile {
  /// Sets the time if possible; a failure does not matter.
  func setModified(_ time: Int64) {
    let times = FileTimes.modified(time)
    _ = unsafe futimens(number, times)
  }
}

private enum FileTimes {
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
