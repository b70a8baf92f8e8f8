internal import PrefetchCore

/// Go's `h1:` sums: the SHA-256 of a `sha256sum` listing sorted by the names' bytes.
package enum ModuleSum {
  /// Largest uncompressed module that Go accepts.
  package static let maximumBytes: Int64 = 500 << 20

  /// Returns the sum of a module's zip file, with the full names in it.
  package static func ofZip(
    _ bytes: RawSpan,
    maximumBytes: Int64 = maximumBytes
  ) throws(ZipReader.Fault) -> [UInt8] {
    let zip = try ZipReader(bytes, maximumBytes: maximumBytes)
    let hasher = BodyHasher.ofSHA256()
    var lines: [UInt8] = []
    for entry in zip.entries.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
      guard !entry.name.contains(0x0A) else { throw .badName }
      try zip.read(entry, of: bytes) { hasher.update($0) }
      lines += "\(hasher.finish().sha256.hexadecimal)  ".utf8
      lines += entry.name
      lines.append(0x0A)
    }
    return SHA256.digest(of: lines).bytes
  }

  package static func ofGoMod(_ bytes: RawSpan) -> [UInt8] {
    SHA256.digest(of: "\(SHA256.digest(of: bytes).hexadecimal)  go.mod\n").bytes
  }
}
