internal import Glibc
internal import PrefetchCore

/// A connection's wait for processes that have locked the database.
final class BusyWait {
  private let path: String
  private var wait = Wait()
  private var ending: Failure?

  init(_ path: String) {
    self.path = path
  }

  func takeEnding() -> Failure? {
    defer { ending = nil }
    return ending
  }

  /// SQLite's busy handler; `tries` counts from 0, and the result 0 gives up.
  static let goesOn: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, tries in
    guard let context = unsafe context else { return 0 }
    let own = unsafe Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue()
    if tries == 0 { own.wait = Wait() }
    own.ending = own.wait.pause(for: own.path, usedBy: { own.users })
    return own.ending == nil ? 1 : 0
  }

  private var users: [CacheUser] {
    guard let slash = path.lastIndex(of: "/"), let root = try? Folder(at: String(path[..<slash]))
    else {
      return []
    }
    return CacheUser.others(inCache: root)
  }
}
