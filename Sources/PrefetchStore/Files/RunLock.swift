internal import Glibc
package import PrefetchCore

/// The right to change a cache as a whole; the kernel takes it back when the process ends.
package final class RunLock {
  package enum Patience: Hashable, Sendable {
    case none
    case upTo(Duration)
    case unlimited
  }

  private let lock: KernelLock

  private init(_ lock: KernelLock) {
    self.lock = lock
  }

  /// Nil when another process holds it until the patience ends or `isCancelled` says so.
  ///
  /// Makes the cache's folder where it is missing.
  package static func acquire(
    cache: String,
    wait patience: Patience = .none,
    isCancelled: () -> Bool = { false }
  ) throws(Failure) -> RunLock? {
    let root = try Folder.making(cache)
    let file = try root.openLock(CacheLayout.lockName)
    let duration: Duration =
      switch patience {
      case .none: .zero
      case .upTo(let duration): duration
      case .unlimited: .seconds(Int64.max / 2)
      }
    guard
      let lock = try KernelLock.take(
        .exclusive,
        on: file,
        patience: duration,
        isCancelled: isCancelled
      )
    else { return nil }
    try note(getpid(), in: file)
    return RunLock(lock)
  }

  /// The process that took the lock last, for messages; nil when nobody ever did.
  package static func holder(cache: String) throws(Failure) -> Int? {
    guard let root = try Folder(at: cache), try root.status(of: CacheLayout.lockName) != nil else {
      return nil
    }
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = try root.open(CacheLayout.lockName, O_RDONLY).read(into: &buffer, at: 0)
    return Int(String(decoding: buffer[..<count].prefix { ASCII.isDigit($0) }, as: UTF8.self))
  }

  private static func note(_ process: pid_t, in file: OpenFile) throws(Failure) {
    try SystemCall.require("empty", file.path) { ftruncate(file.number, 0) }
    let text = Array("\(process)\n".utf8)
    try file.write(unsafe text.span.bytes)
  }
}
