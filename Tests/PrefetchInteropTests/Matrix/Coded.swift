internal import CZlib
import PrefetchTestSupport

/// Bodies in their content codings.
enum Coded {
  static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    let checksum = unsafe UInt32(crc32_z(0, bytes, bytes.count))
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + stored(bytes) + littleEndian(checksum)
      + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }

  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    let checksum = unsafe UInt32(adler32_z(1, bytes, bytes.count))
    return [0x78, 0x01] + stored(bytes) + littleEndian(checksum).reversed()
  }

  /// Returns compressed zeros; nothing when `gzip` is missing.
  static func zeros(_ count: Int) -> [UInt8] {
    guard let home = try? Home(),
      let run = try? home.tool(
        "bash",
        "-c",
        "head -c \(count) /dev/zero | gzip -9 -n > \(home.path("zeros"))"
      ), run.status == 0
    else { return [] }
    return FileTree.read(home.path("zeros")) ?? []
  }

  /// Deflate without compression, 65,535 bytes a block.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    let starts = bytes.isEmpty ? [0] : Array(stride(from: 0, to: bytes.count, by: 65_535))
    var blocks: [UInt8] = []
    for start in starts {
      let block = bytes[start..<min(start + 65_535, bytes.count)]
      let length = UInt16(block.count)
      blocks.append(start + block.count == bytes.count ? 1 : 0)
      blocks += littleEndian(length) + littleEndian(~length)
      blocks += block
    }
    return blocks
  }

  private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
