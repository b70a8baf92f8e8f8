internal import Glibc
package import PrefetchCore

/// Writes to a descriptor whose reader may be slow or may never read.
package final class PatientOutput: Sendable {
  package enum Outcome: Hashable, Sendable {
    case written
    case abandoned
    /// The reader closed the descriptor, which is no error.
    case closed
    case failed(errno: Int32)
  }

  private let descriptor: Int32
  private let isOwned: Bool

  package init(openDescriptor descriptor: Int32) throws(Failure) {
    guard fcntl(descriptor, F_GETFD) != -1 else {
      throw Failure(.permission, "the descriptor \(descriptor) is not open")
    }
    self.descriptor = descriptor
    isOwned = false
  }

  package init(appendingTo path: String) throws(Failure) {
    // Opening a pipe without a reader blocks, unless it is opened for reading as well.
    var status = stat()
    let isPipe = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    let access = isPipe ? O_RDWR : O_WRONLY | O_CREAT | O_APPEND
    do throws(SystemFault) {
      let flags = access | O_CLOEXEC | O_NOCTTY | (try LinkFollowing.flag(for: path))
      descriptor = unsafe open(path, flags, 0o666)
      guard descriptor >= 0 else { throw .last }
    } catch {
      throw Failure(.permission, "`\(path)` cannot be written: \(error.reason)")
    }
    isOwned = true
  }

  deinit {
    if isOwned { close(descriptor) }
  }

  /// Number of bytes that a writable pipe accepts without blocking.
  private static let chunkSize = 4096
  private static let slice: Int32 = 50

  /// Writes the bytes, checking `isAbandoned` every 50 milliseconds while it waits.
  package func write(_ bytes: [UInt8], unless isAbandoned: () -> Bool) -> Outcome {
    var offset = 0
    while offset < bytes.count {
      guard !isAbandoned() else { return .abandoned }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let ready = unsafe poll(&entry, 1, Self.slice)
      guard ready > 0, entry.revents & Int16(POLLOUT) != 0 else {
        if ready > 0, entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return .closed }
        continue
      }
      let written = unsafe bytes.withUnsafeBytes { all in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: all[offset...].prefix(Self.chunkSize))
        return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      if written >= 0 {
        offset += written
      } else if errno == EPIPE {
        return .closed
      } else if errno != EAGAIN, errno != EINTR {
        return .failed(errno: errno)
      }
    }
    return .written
  }
}
