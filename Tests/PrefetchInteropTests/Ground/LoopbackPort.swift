@unsafe @preconcurrency import Glibc

/// Ports of 127.0.0.1 and raw exchanges with them.
enum LoopbackPort {
  /// Returns a port on which no process listens at this moment.
  static func free() -> Int {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.bind(descriptor, generic, size)
        unsafe getsockname(descriptor, generic, &size)
      }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits up to ten seconds until the port accepts connections; returns false otherwise.
  static func waitUntilOpen(_ port: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if let descriptor = connected(port) {
        close(descriptor)
        return true
      }
      poll(nil, 0, 5)
    }
    return false
  }

  /// Sends a request and reads until the server closes the connection.
  @discardableResult
  static func exchange(_ port: Int, _ request: String) -> [UInt8] {
    guard let descriptor = connected(port) else { return [] }
    defer { close(descriptor) }
    let bytes = Array(request.utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else { return [] }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return received }
      received += buffer[..<count]
    }
  }

  private static func connected(_ port: Int) -> CInt? {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = address(port)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  static func datagramSocket() -> CInt {
    socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }

  /// False when another socket has the port.
  static func bind(_ descriptor: CInt, to port: Int) -> Bool {
    var address = address(port)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    return address
  }
}
