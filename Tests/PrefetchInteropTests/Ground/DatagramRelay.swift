@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Relays datagrams between two ports of 127.0.0.1, up to a number of datagrams from clients.
///
/// From then on all are dropped, as by a firewall whose rules have changed.
final class DatagramRelay: Sendable {
  private let isStopped = Guarded(false)
  private let thread: NativeThread

  init(from port: Int, to target: Int, limit: Int) throws {
    let entrance = LoopbackPort.datagramSocket()
    try #require(
      LoopbackPort.bind(entrance, to: port),
      "no other process may have UDP port \(port)"
    )
    let isStopped = isStopped
    thread = try #require(
      NativeThread {
        var passage = Passage(entrance: entrance, target: target, rest: limit)
        while !isStopped.withLock({ $0 }) { passage.relayOnce() }
        passage.end()
      }
    )
  }

  deinit {
    isStopped.withLock { $0 = true }
    thread.join()
  }

  /// State of the relay's thread.
  private struct Passage {
    let entrance: CInt
    let target: Int
    /// Number of datagrams that may still pass.
    var rest: Int
    private var clients: [(address: sockaddr_in, exit: CInt)] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(entrance: CInt, target: Int, rest: Int) {
      self.entrance = entrance
      self.target = target
      self.rest = rest
    }

    /// Waits briefly for datagrams, so that the relay's end is noticed.
    mutating func relayOnce() {
      var entries = ([entrance] + clients.map(\.exit)).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&entries, nfds_t(entries.count), 10) > 0 else { return }
      if entries[0].revents != 0 { passOn() }
      for (client, entry) in zip(clients, entries.dropFirst()) where entry.revents != 0 {
        let size = unsafe recv(entry.fd, &buffer, buffer.count, 0)
        if size > 0, rest > 0 { send(size, by: entrance, to: client.address) }
      }
    }

    private mutating func passOn() {
      var sender = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let size = unsafe withUnsafeMutablePointer(to: &sender) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe recvfrom(entrance, &buffer, buffer.count, 0, generic, &length)
        }
      }
      guard size > 0, rest > 0 else { return }
      rest -= 1
      send(size, by: exit(for: sender), to: LoopbackPort.address(target))
    }

    /// Returns a client's own socket, by which responses find their way back.
    private mutating func exit(for client: sockaddr_in) -> CInt {
      let known = clients.first { $0.address.sin_port == client.sin_port }
      if let known { return known.exit }
      let exit = LoopbackPort.datagramSocket()
      clients.append((client, exit))
      return exit
    }

    private func send(_ size: Int, by descriptor: CInt, to address: sockaddr_in) {
      var address = address
      unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          let length = socklen_t(MemoryLayout<sockaddr_in>.size)
          _ = unsafe sendto(descriptor, buffer, size, 0, generic, length)
        }
      }
    }

    func end() {
      for descriptor in [entrance] + clients.map(\.exit) { close(descriptor) }
    }
  }
}
