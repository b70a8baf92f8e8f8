package import PrefetchCore
internal import PrefetchDocuments

/// Digests that an earlier manifest lists, so that unchanged files need not be hashed again.
package struct EarlierManifest {
  private struct Facts {
    var size: Int64
    var modified: Instant
    var digest: ContentDigest
  }

  package let generated: Instant
  private var facts: [String: Facts] = [:]

  /// Age below which a file may have changed again within one tick of the file system's clock.
  private static let settling = Duration.seconds(2)

  package init(_ bytes: [UInt8]) throws(Failure) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    // With one item per line, the first line is a whole object; otherwise it is a brace.
    let isLines = lines.first.map { $0.count > 1 && $0.last == UInt8(ascii: "}") } ?? false
    let root = try NativeManifest.parse(isLines ? Array(lines[0]) : bytes)
    try NativeManifest.check(root)
    guard let generated = root["generated"]?.text.flatMap({ Timestamp.parse($0) }) else {
      throw Failure(.manifestInvalid, "it does not say when it was `generated`")
    }
    self.generated = generated
    if isLines {
      for line in lines.dropFirst() { remember(try NativeManifest.parse(Array(line))) }
    } else {
      for node in root["items"]?.sequence ?? [] { remember(node) }
    }
  }

  private mutating func remember(_ item: Node) {
    guard let url = item["url"]?.text, let size = item["size"]?.integer,
      let modified = item["mtime"]?.text.flatMap({ Timestamp.parse($0) }),
      let digest = (item["digests"]?["sha256"]?.text).flatMap({ ContentDigest($0) })
    else { return }
    facts[url] = Facts(size: size, modified: modified, digest: digest)
  }

  package func digest(of url: String, size: Int64, modified: Instant) -> ContentDigest? {
    guard let known = facts[url], known.size == size, known.modified == modified,
      modified + Self.settling < generated
    else { return nil }
    return known.digest
  }
}
