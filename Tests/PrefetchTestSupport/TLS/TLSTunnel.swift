internal import COpenSSL
internal import Glibc

/// A proxy's tunnel, over TLS or in the clear.
@safe struct TLSTunnel {
  let descriptor: CInt
  let tls: OpaquePointer?
  /// Port that every tunnel leads to; nil for the requested port.
  let port: Int?
  let stop: Gate

  init(descriptor: CInt, tls: OpaquePointer?, port: Int?, stop: Gate) {
    self.descriptor = descriptor
    unsafe self.tls = tls
    self.port = port
    self.stop = stop
  }

  func serve() {
    var head: [UInt8] = []
    while !head.contains(UInt8(ascii: "\n")) || head.suffix(4) != Array("\r\n\r\n".utf8)[...] {
      guard let bytes = receive() else { return }
      head += bytes
    }
    guard let port = port(in: String(decoding: head, as: UTF8.self)) else { return }
    let target = connect(to: port)
    guard target >= 0 else { return }
    defer { close(target) }
    send(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
    relay(target)
  }

  private func port(in head: String) -> UInt16? {
    let words = head.split(separator: " ")
    guard words.count > 1, words[0] == "CONNECT" else { return nil }
    if let port { return UInt16(port) }
    return words[1].split(separator: ":").last.flatMap { UInt16($0) }
  }

  private func connect(to port: UInt16) -> CInt {
    let target = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(target, $0, size)
      }
    }
    guard status == 0 else {
      close(target)
      return -1
    }
    return target
  }

  private func relay(_ target: CInt) {
    while true {
      var entries = [
        pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: target, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&entries, 3, -1) > 0, entries[0].revents == 0 else { return }
      if entries[1].revents != 0 {
        guard let bytes = receive() else { return }
        guard unsafe Glibc.send(target, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
        else { return }
      }
      if entries[2].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe recv(target, &bytes, bytes.count, 0)
        guard count > 0 else { return }
        send(Array(bytes.prefix(count)))
      }
    }
  }

  /// Returns all available bytes, waiting for the first; nil at the end.
  private func receive() -> [UInt8]? {
    var all: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = read(&bytes)
      if count > 0 {
        all += bytes.prefix(count)
      } else if count == 0 {
        return all.isEmpty ? nil : all
      } else if !all.isEmpty {
        return all
      } else if !Descriptors.waitForInput(descriptor, unless: stop) {
        return nil
      }
    }
  }

  /// Reads available bytes; returns a negative number when there are none yet.
  private func read(_ bytes: inout [UInt8]) -> Int {
    guard let tls = unsafe tls else {
      let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
      return count < 0 && errno != EAGAIN ? 0 : count
    }
    ERR_clear_error()
    let count = unsafe SSL_read(tls, &bytes, CInt(bytes.count))
    guard count <= 0 else { return Int(count) }
    return unsafe SSL_get_error(tls, count) == SSL_ERROR_WANT_READ ? -1 : 0
  }

  private func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      let count =
        unsafe tls.map { unsafe Int(SSL_write($0, rest, CInt(rest.count))) }
        ?? Glibc.send(descriptor, rest, rest.count, CInt(MSG_NOSIGNAL))
      if count > 0 {
        sent += count
      } else if !Descriptors.waitForOutput(descriptor, unless: stop) {
        return
      }
    }
  }
}
