package import PrefetchCore

/// Lock of the process that sends queued events; two processes would send the same events.
package final class SendingLock {
  private let lock: KernelLock

  private init(_ lock: KernelLock) {
    self.lock = lock
  }

  package static func acquire(state path: String) throws(Failure) -> SendingLock? {
    let file = try Folder.making(path, mode: 0o700).openLock("sending.lock", mode: 0o600)
    return try KernelLock.acquire(.exclusive, on: file).map { SendingLock($0) }
  }
}
