internal import PrefetchCore

/// Codes the further files of an item for the details of its row.
enum BundleCoding {
  static func encode(_ files: [BundleFile]) -> [UInt8] {
    var bytes: [UInt8] = []
    for file in files {
      bytes.append(file.role.rawValue | (file.isReserved ? reserved : 0))
      bytes += file.digest.bytes
      for number in [file.size, file.prefix ?? -1] {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
      }
      let texts = [
        file.key, file.name, file.mime ?? "", file.validators.entityTag ?? "",
        file.validators.lastModified ?? "", file.finalURL ?? "",
      ]
      for text in texts {
        ByteCursor.append(length: text.utf8.count, to: &bytes)
        bytes.append(contentsOf: text.utf8)
      }
    }
    return bytes
  }

  static func decode(_ bytes: RawSpan) -> [BundleFile]? {
    var files: [BundleFile] = []
    var cursor = ByteCursor()
    while let first = cursor.byte(bytes) {
      guard let role = BundleFile.Role(rawValue: first & ~reserved),
        cursor.offset + 48 <= bytes.byteCount
      else { return nil }
      let start = cursor.offset
      let digest = unsafe bytes.extracting(start..<start + 32).withUnsafeBytes {
        unsafe ContentDigest(bytes: Array($0))
      }
      let size = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + 32, as: Int64.self)
      let prefix = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + 40, as: Int64.self)
      cursor = ByteCursor(offset: start + 48)
      var texts: [String] = []
      for _ in 0..<6 {
        guard let range = cursor.text(bytes) else { return nil }
        texts.append(
          unsafe bytes.extracting(range).withUnsafeBytes {
            unsafe String(decoding: $0, as: UTF8.self)
          }
        )
      }
      guard let digest else { return nil }
      var file = BundleFile(
        role: role,
        key: texts[0],
        name: texts[1],
        digest: digest,
        size: Int64(littleEndian: size)
      )
      file.isReserved = first & reserved != 0
      file.prefix = prefix < 0 ? nil : Int64(littleEndian: prefix)
      file.mime = texts[2].isEmpty ? nil : texts[2]
      file.validators.entityTag = texts[3].isEmpty ? nil : texts[3]
      file.validators.lastModified = texts[4].isEmpty ? nil : texts[4]
      file.finalURL = texts[5].isEmpty ? nil : texts[5]
      files.append(file)
    }
    return files
  }

  private static let reserved: UInt8 = 0x80
}
