package import PrefetchCore

/// The right to send what waits, which one process has at a time: two would send the same.
package final class SendingLock {
  private let lock: KernelLock

  private init(_ lock: KernelLock) {
    self.lock = lock
  }

  /// Nil where another process has it.
  package static func take(state path: String) throws(Failure) -> SendingLock? {
    let file = try Folder.making(path, mode: 0o700).openLock("sending.lock", mode: 0o600)
    return try KernelLock.take(.exclusive, on: file).map { SendingLock($0) }
  }
}
