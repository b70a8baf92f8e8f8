internal import Glibc
internal import PrefetchCore

/// The waiting of one connection for others that have the database.
final class BusyWait {
  private let path: String
  private var wait = Wait()
  private var ending: Failure?

  init(_ path: String) {
    self.path = path
  }

  /// What ended the last wait, once.
  func takeEnding() -> Failure? {
    defer { ending = nil }
    return ending
  }

  /// Called by SQLite with how often it has tried; it gives up at 0.
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
