internal import PrefetchCore

/// The `h1:` sums of Go's modules: the SHA-256 of a list of the files with theirs.
///
/// Its lines are what `sha256sum` prints, in the order of the names' bytes.
package enum ModuleSum {
  /// As Go itself: a module that is larger unpacked is none.
  package static let maximumBytes: Int64 = 500 << 20

  /// Of the files in a module's zip file, under their full names in it.
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

  /// Of a go.mod file that stands alone.
  package static func ofGoMod(_ bytes: RawSpan) -> [UInt8] {
    SHA256.digest(of: "\(SHA256.digest(of: bytes).hexadecimal)  go.mod\n").bytes
  }
}
