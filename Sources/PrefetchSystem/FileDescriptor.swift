internal import Glibc

struct FileDescriptor: ~Copyable {
  let number: Int32

  init(number: Int32) {
    self.number = number
  }

  init(opening path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFault) {
    var number: Int32
    repeat {
      number = unsafe open(path, flags | O_CLOEXEC, mode)
    } while number < 0 && errno == EINTR && StopSignals.pending == nil
    guard number >= 0 else { throw .last }
    self.number = number
  }

  deinit {
    close(number)
  }

  func status() throws(SystemFault) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw .last }
    return status
  }

  static func writeAll(_ bytes: RawSpan, to descriptor: Int32) throws(SystemFault) {
    let fault = unsafe bytes.withUnsafeBytes { buffer -> SystemFault? in
      var offset = 0
      while offset < buffer.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
        let written = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        if written >= 0 {
          offset += written
        } else if errno == EAGAIN {
          waitUntilWritable(descriptor)
        } else if errno != EINTR {
          return .last
        }
      }
      return nil
    }
    if let fault { throw fault }
  }

  static func readAll(
    from descriptor: Int32,
    limit: Int,
    expected: Int
  ) throws(SystemFault) -> [UInt8]? {
    var contents: [UInt8] = []
    contents.reserveCapacity(min(limit, max(expected, 0)))
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count == 0 { return contents }
      if count < 0 {
        // After a stop signal the rest is not wanted.
        guard errno == EINTR, StopSignals.pending == nil else { throw .last }
        continue
      }
      guard contents.count + count <= limit else { return nil }
      contents.append(contentsOf: chunk[..<count])
    }
  }

  /// Waits, since a parent may have made the pipe non-blocking.
  private static func waitUntilWritable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    unsafe poll(&entry, 1, -1)
  }
}
