/// FNV-1a hash for stored values: the same in all processes and versions.
package struct StableHash {
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  package mutating func combine(_ text: String?) {
    guard let text else { return combine(byte: 0xff) }
    for byte in text.utf8 { combine(byte: byte) }
    combine(byte: 0xfe)
  }

  package mutating func combine(_ bytes: ArraySlice<UInt8>?) {
    guard let bytes else { return combine(byte: 0xff) }
    for byte in bytes { combine(byte: byte) }
    combine(byte: 0xfe)
  }

  package mutating func combine(_ number: Int64?) {
    guard let number else { return combine(byte: 0xff) }
    for shift in stride(from: 0, to: 64, by: 8) {
      combine(byte: UInt8(truncatingIfNeeded: number >> Int64(shift)))
    }
  }

  private mutating func combine(byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}
