/// Addresses that begin with the same bits: `192.0.2.0/24`, `2001:db8::/32`, a single address.
package struct AddressRange: Hashable, Sendable {
  package let address: IPAddress
  package let length: Int

  package init?(_ text: some StringProtocol) {
    let slash = text.firstIndex(of: "/")
    let literal = text[..<(slash ?? text.endIndex)]
    guard let address = IPAddress(literal) else { return nil }
    let width = address.bytes.count * 8
    guard let slash else {
      self.init(address, length: width)
      return
    }
    let digits = text[text.index(after: slash)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit), var length = Int(digits) else {
      return nil
    }
    // The prefix of an IPv4-mapped address counts the 96 bits before it.
    if width == 32, literal.contains(":") { length -= 96 }
    guard (0...width).contains(length) else { return nil }
    self.init(address, length: length)
  }

  private init(_ address: IPAddress, length: Int) {
    let bytes = address.bytes.enumerated().map { index, byte in
      let kept = min(max(length - index * 8, 0), 8)
      return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
    }
    self.address = IPAddress(bytes: bytes)
    self.length = length
  }

  package func contains(_ other: IPAddress) -> Bool {
    other.bytes.count == address.bytes.count && AddressRange(other, length: length) == self
  }
}

extension AddressRange: CustomStringConvertible {
  package var description: String {
    length == address.bytes.count * 8 ? address.description : "\(address)/\(length)"
  }
}
