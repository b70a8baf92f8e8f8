/// Builds `bplist00` files object by object, including invalid ones.
enum BinaryPlistFixture {
  /// Builds a file with one-byte references; `offsets` replaces the objects' real offsets.
  static func file(_ objects: [[UInt8]], root: UInt8 = 0, offsets: [Int]? = nil) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var starts: [Int] = []
    for object in objects {
      starts.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for start in offsets ?? starts { bytes += [UInt8(start >> 8 & 0xFF), UInt8(start & 0xFF)] }
    bytes += [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [(offsets ?? starts).count, Int(root), table] {
      bytes += (0..<8).reversed().map { UInt8(number >> (8 * $0) & 0xFF) }
    }
    return bytes
  }

  static func text(_ text: String) -> [UInt8] {
    let units = Array(text.utf16)
    guard units.contains(where: { $0 > 0x7F }) else {
      return head(0x50, units.count) + text.utf8
    }
    return head(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }

  static func data(_ bytes: [UInt8]) -> [UInt8] { head(0x40, bytes.count) + bytes }

  static func array(_ references: [UInt8]) -> [UInt8] {
    head(0xA0, references.count) + references
  }

  static func dict(_ keys: [UInt8], _ values: [UInt8]) -> [UInt8] {
    head(0xD0, keys.count) + keys + values
  }

  static func real(_ value: Double) -> [UInt8] { [0x23] + eight(value.bitPattern) }

  static func date(_ value: Double) -> [UInt8] { [0x33] + eight(value.bitPattern) }

  static func integer(_ value: Int64) -> [UInt8] { [0x13] + eight(UInt64(bitPattern: value)) }

  private static func eight(_ bits: UInt64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
    count < 15
      ? [marker | UInt8(count)]
      : [marker | 0x0F, 0x11, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
  }
}
