@unsafe @preconcurrency import Glibc
import Testing

/// Receives datagrams at a port of 127.0.0.1 and never responds, as a firewall does.
final class DatagramEar {
  private let descriptor: CInt

  init(_ port: Int) throws {
    descriptor = LoopbackPort.datagramSocket()
    try #require(
      LoopbackPort.bind(descriptor, to: port),
      "no other process may have UDP port \(port)"
    )
  }

  deinit {
    close(descriptor)
  }

  /// Returns the number of datagrams since the last call.
  func drainCount() -> Int {
    var count = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT)) >= 0 {
      count += 1
    }
    return count
  }
}
