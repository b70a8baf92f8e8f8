/// Cursor over bytes in which its length precedes each text: seven bits a byte, lowest first.
package struct ByteCursor {
  package private(set) var offset: Int

  package init(offset: Int = 0) {
    self.offset = offset
  }

  package mutating func byte(_ bytes: RawSpan) -> UInt8? {
    guard offset < bytes.byteCount else { return nil }
    defer { offset += 1 }
    return bytes.byte(offset)
  }

  package mutating func text(_ bytes: RawSpan) -> Range<Int>? {
    var count = 0
    var shift = 0
    repeat {
      guard shift < 35, let next = byte(bytes) else { return nil }
      count |= Int(next & 0x7f) << shift
      shift += 7
      if next < 0x80 { break }
    } while true
    guard count <= bytes.byteCount - offset else { return nil }
    defer { offset += count }
    return offset..<offset + count
  }

  package static func append(length: Int, to bytes: inout [UInt8]) {
    var rest = length
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

extension Span<UInt8> {
  /// Whether the byte occurs; a string's own search takes several times as long.
  package func contains(_ byte: UInt8) -> Bool {
    for index in indices where self[index] == byte { return true }
    return false
  }
}

extension RawSpan {
  /// Returns the byte at an offset that must be valid.
  package func byte(_ offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  package func isSame(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    var offset = 0
    while offset + 8 <= byteCount {
      let mine = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      let theirs = unsafe other.unsafeLoadUnaligned(
        fromUncheckedByteOffset: offset,
        as: UInt64.self
      )
      guard mine == theirs else { return false }
      offset += 8
    }
    while offset < byteCount, byte(offset) == other.byte(offset) { offset += 1 }
    return offset == byteCount
  }
}
