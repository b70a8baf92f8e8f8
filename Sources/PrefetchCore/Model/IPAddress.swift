/// Literal IPv4 or IPv6 address; IPv4-mapped IPv6 is read as IPv4.
package struct IPAddress: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Parses only strict spellings: four decimal numbers without leading zeros, or RFC 4291 text.
  package init?(_ text: some StringProtocol) {
    guard
      let parsed = text.contains(":")
        ? Self.parseIPv6(Substring(text)) : Self.parseIPv4(Substring(text))
    else {
      return nil
    }
    let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    bytes = parsed.count == 16 && parsed.starts(with: mappedPrefix) ? Array(parsed[12...]) : parsed
  }

  package init?(host: String) {
    if host.utf8.first == UInt8(ascii: "[") {
      self.init(host.dropFirst().dropLast())
    } else {
      // A name ends in a letter or a dot.
      guard let last = host.utf8.last, ASCII.isDigit(last) || host.utf8.contains(0x3A) else {
        return nil
      }
      self.init(host)
    }
  }

  /// Creates an address from 4 or 16 bytes that are not IPv4-mapped.
  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether the address is loopback, private, shared, link-local, unique-local or unspecified.
  package var isLocal: Bool {
    if let inner = translated { return inner.isLocal }
    if bytes.count == 4 {
      return switch (bytes[0], bytes[1]) {
      case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127): true
      default: false
      }
    }
    if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] <= 1 }
    return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
  }

  package var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes[15] == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
  }

  /// IPv4 address to which NAT64 would translate this one (RFC 6052); nil for others.
  private var translated: IPAddress? {
    let prefix: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    guard bytes.count == 16, bytes.starts(with: prefix) else { return nil }
    return IPAddress(bytes: Array(bytes[12...]))
  }

  private static func parseIPv4(_ text: Substring) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard !part.isEmpty, part.utf8.allSatisfy(ASCII.isDigit), part == "0" || !part.hasPrefix("0"),
        let value = UInt8(part)
      else { return nil }
      bytes.append(value)
    }
    return bytes
  }

  private static func parseIPv6(_ text: Substring) -> [UInt8]? {
    let halves = text.split(separator: "::", omittingEmptySubsequences: false)
    guard halves.count <= 2, let head = parseGroups(halves[0], mayEndInIPv4: halves.count == 1)
    else { return nil }
    guard halves.count == 2 else { return head.count == 16 ? head : nil }
    guard let tail = parseGroups(halves[1], mayEndInIPv4: true), head.count + tail.count <= 14
    else { return nil }
    return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  private static func parseGroups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt8]? {
    guard !text.isEmpty else { return [] }
    var bytes: [UInt8] = []
    let groups = text.split(separator: ":", omittingEmptySubsequences: false)
    for (offset, group) in groups.enumerated() {
      if group.contains(".") {
        guard mayEndInIPv4, offset == groups.count - 1, let address = parseIPv4(group) else {
          return nil
        }
        bytes += address
      } else {
        guard (1...4).contains(group.utf8.count),
          group.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }),
          let value = UInt16(group, radix: 16)
        else {
          return nil
        }
        bytes += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
      }
    }
    return bytes
  }
}

extension IPAddress: CustomStringConvertible {
  /// Decimal numbers, or RFC 5952: lower case, the longest run of zeros omitted.
  package var description: String {
    guard bytes.count == 16 else { return bytes.map { "\($0)" }.joined(separator: ".") }
    let groups = stride(from: 0, to: 16, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    var zeros = 0..<0
    var start = 0
    while start < groups.count {
      var end = start
      while end < groups.count, groups[end] == 0 { end += 1 }
      if end - start > max(zeros.count, 1) { zeros = start..<end }
      start = max(end, start + 1)
    }
    let spelled = groups.map { String($0, radix: 16) }
    guard !zeros.isEmpty else { return spelled.joined(separator: ":") }
    let head = spelled[..<zeros.lowerBound].joined(separator: ":")
    return "\(head)::\(spelled[zeros.upperBound...].joined(separator: ":"))"
  }
}
