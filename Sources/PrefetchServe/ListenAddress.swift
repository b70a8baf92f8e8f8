internal import PrefetchCore

package struct ListenAddress: Hashable, Sendable {
  package let host: String
  package let addressBytes: [UInt8]
  /// Port; 0 takes a free one.
  package var port: UInt16

  package static let standard = ListenAddress(host: "127.0.0.1", bytes: [127, 0, 0, 1], port: 7733)

  /// Reads `127.0.0.1:7733`, `[::1]:7733`, `localhost:7733`, or `:7733` for loopback.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit), let port = UInt16(digits) else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.isEmpty || host == "localhost" {
      host = "127.0.0.1"
    } else if host.contains(":") {
      return nil
    }
    guard let address = IPAddress(host) else { return nil }
    self.init(host: String(host), bytes: address.bytes, port: port)
  }

  init(host: String, bytes: [UInt8], port: UInt16) {
    self.host = host
    addressBytes = bytes
    self.port = port
  }

  package var isIPv6: Bool {
    addressBytes.count == 16
  }

  package var isLoopback: Bool {
    if !isIPv6 { return addressBytes[0] == 127 }
    return addressBytes.dropLast().allSatisfy { $0 == 0 } && addressBytes.last == 1
  }

  package var authority: String {
    isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
