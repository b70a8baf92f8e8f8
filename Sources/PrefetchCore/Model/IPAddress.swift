/// A literal IPv4 or IPv6 address, IPv4-mapped IPv6 read as IPv4.
package struct IPAddress: Hashable, Sendable {
  /// 4 or 16 bytes.
  package let bytes: [UInt8]

  /// Only the strict spellings: four decimal numbers without leading zeros, or RFC 4291 text.
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

  /// Loopback, private, link-local, unique-local or unspecified: not reachable from elsewhere.
  package var isLocal: Bool {
    if bytes.count == 4 {
      return switch (bytes[0], bytes[1]) {
      case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127): true
      default: false
      }
    }
    if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] <= 1 }
    return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
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
