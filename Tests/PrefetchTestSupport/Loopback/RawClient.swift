internal import Glibc

/// One request, written byte by byte as a test wants it, and the whole answer.
package struct RawClient: Sendable {
  package struct Answer: Sendable {
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
    case noAnswer
  }

  package func get(_ path: String, _ headers: [String] = [], method: String = "GET") throws -> Answer {
    let hasHost = headers.contains { $0.hasPrefix("Host:") }
    let lines =
      ["\(method) \(path) HTTP/1.1"] + (hasHost ? [] : ["Host: 127.0.0.1:\(port)"]) + headers
    return try send((lines + ["Connection: close", "", ""]).joined(separator: "\r\n"))
  }

  package func send(_ request: String) throws -> Answer {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 10, tv_usec: 0)
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
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Fault.notConnected }
    let bytes = Array(request.utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Fault.notConnected
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe read(descriptor, &chunk, chunk.count), count > 0 {
      answer += chunk[..<count]
    }
    return try Self.parse(String(decoding: answer, as: UTF8.self))
  }

  private static func parse(_ text: String) throws -> Answer {
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let words = lines.first?.split(separator: " "), words.count >= 2,
      let status = Int(words[1])
    else {
      throw Fault.noAnswer
    }
    lines.removeFirst()
    var headers: [String: String] = [:]
    while let line = lines.first, !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
      lines.removeFirst()
    }
    return Answer(
      status: status,
      headers: headers,
      body: lines.dropFirst().joined(separator: "\r\n")
    )
  }
}
