internal import Glibc

/// Sends a request byte by byte and returns the whole response.
package struct RawClient: Sendable {
  package struct Response: Sendable {
    package var status: Int
    package var headers: [String: String]
    package var body: String
  }

  package let port: UInt16

  package init(_ address: String) throws {
    let digits = address.split(separator: ":").last?.dropLast() ?? ""
    guard let port = UInt16(digits) else { throw Fault.badAddress }
    self.port = port
  }

  package enum Fault: Error {
    case badAddress
    case notConnected
    case noResponse
  }

  package func get(
    _ path: String,
    _ headers: [String] = [],
    method: String = "GET"
  ) throws -> Response {
    let hasHost = headers.contains { $0.hasPrefix("Host:") }
    let lines =
      ["\(method) \(path) HTTP/1.1"] + (hasHost ? [] : ["Host: 127.0.0.1:\(port)"]) + headers
    return try send((lines + ["Connection: close", "", ""]).joined(separator: "\r\n"))
  }

  package func send(_ request: String) throws -> Response {
    let connection = try connect()
    try connection.write(request)
    return try Self.parse(String(decoding: connection.readAll(), as: UTF8.self))
  }

  package func connect() throws -> RawConnection {
    guard let connection = RawConnection(port: port) else { throw Fault.notConnected }
    return connection
  }

  private static func parse(_ text: String) throws -> Response {
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let words = lines.first?.split(separator: " "), words.count >= 2,
      let status = Int(words[1])
    else {
      throw Fault.noResponse
    }
    lines.removeFirst()
    var headers: [String: String] = [:]
    while let line = lines.first, !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
      lines.removeFirst()
    }
    return Response(
      status: status,
      headers: headers,
      body: lines.dropFirst().joined(separator: "\r\n")
    )
  }
}

/// A connection that stays open until it is released.
package final class RawConnection: Sendable {
  private let descriptor: Int32

  fileprivate init?(port: UInt16) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(
      descriptor,
      SOL_SOCKET,
      SO_RCVTIMEO,
      &limit,
      socklen_t(MemoryLayout<timeval>.size)
    )
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { return nil }
  }

  deinit {
    close(descriptor)
  }

  /// Writes a text; ignores bytes that the server no longer accepts.
  package func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads until the server closes the connection or stays silent for a long time.
  package func readAll() -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe read(descriptor, &chunk, chunk.count), count > 0 {
      bytes += chunk[..<count]
    }
    return bytes
  }
}
