internal import Glibc
package import PrefetchCore

/// Buffered output that remembers its first failure.
package final class StandardOutput: TextOutputStream {
  package enum Outcome: Hashable, Sendable {
    case ok
    case closed
    case failed(errno: Int32)
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// First failure; nothing is written after it.
  package private(set) var outcome = Outcome.ok

  private static let capacity = 64 * 1024

  package init(descriptor: Int32 = 1) {
    self.descriptor = descriptor
  }

  /// Opens a file for appending; `isPrivate` creates it for its owner alone.
  package convenience init(appendingTo path: String, isPrivate: Bool = false) throws(Failure) {
    let descriptor: Int32
    do throws(SystemFault) {
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY
      let linkFlag = try LinkFollowing.flag(for: path)
      descriptor = unsafe open(path, flags | linkFlag, isPrivate ? 0o600 : 0o666)
      guard descriptor >= 0 else { throw .last }
    } catch {
      throw Failure(.permission, "`\(path)` cannot be written: \(error.reason)")
    }
    self.init(descriptor: descriptor)
  }

  package func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.capacity { flush() }
  }

  package func write(bytes: RawSpan) {
    flush()
    writeAll(bytes)
  }

  @discardableResult
  package func flush() -> Outcome {
    unsafe writeAll(buffer.span.bytes)
    buffer.removeAll(keepingCapacity: true)
    return outcome
  }

  package func close() {
    Glibc.close(descriptor)
  }

  package static func reason(errno number: Int32) -> String {
    SystemFault(number: number).reason
  }

  private func writeAll(_ bytes: RawSpan) {
    guard outcome == .ok, bytes.byteCount > 0 else { return }
    do throws(SystemFault) {
      try FileDescriptor.writeAll(bytes, to: descriptor)
    } catch {
      outcome = error.number == EPIPE ? .closed : .failed(errno: error.number)
    }
  }
}
