internal import Glibc
internal import PrefetchCore

/// A connection's wait for processes that have locked the database.
final class BusyWait {
  private let path: String
  private var wait = Wait()
  private var failure: Failure?

  init(_ path: String) {
    self.path = path
  }

  func consumeFailure() -> Failure? {
    defer { failure = nil }
    return failure
  }

  /// SQLite's busy handler; `tries` counts from 0, and the result 0 gives up.
  static let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = {
    context,
    tries in
    guard let context = unsafe context else { return 0 }
    let own = unsafe Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue()
    if tries == 0 { own.wait = Wait() }
    own.failure = own.wait.pause(for: own.path, usedBy: { own.users })
    return own.failure == nil ? 1 : 0
  }

  private var users: [CacheUser] {
    guard let slash = path.lastIndex(of: "/"), let root = try? Folder(at: String(path[..<slash]))
    else {
      return []
    }
    return CacheUser.others(inCache: root)
  }
}
