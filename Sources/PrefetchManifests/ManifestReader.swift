package import PrefetchCore

/// Manifest bytes into entries, whatever format they turn out to be.
package enum ManifestReader {
  /// Throws when nothing of it can be used; entries that break a rule come back as rejected ones.
  package static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let head = unsafe bytes.withUnsafeBytes { bytes in unsafe Self.head(of: bytes) }
    switch head.first {
    case nil: return Manifest()
    case UInt8(ascii: "{"):
      return try NativeManifest.read(bytes, source: source)
    case UInt8(ascii: "<"):
      throw markup(head)
    default:
      throw Failure(
        .manifestInvalid,
        "it is no prefetch manifest: it begins with neither `{` nor anything else that is known"
      )
    }
  }

  /// The first bytes that are no blanks.
  private static func head(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let text = unsafe bytes.drop { " \t\r\n".utf8.contains($0) }
    return unsafe Array(text.prefix(1024))
  }

  private static func markup(_ head: [UInt8]) -> Failure {
    let text = String(decoding: head, as: UTF8.self).lowercased()
    if ["<html", "<!doctype html", "<head", "<body"].contains(where: { text.contains($0) }) {
      return Failure(.manifestGuard, "an HTML page came in its place")
    }
    return Failure(.manifestInvalid, "it is XML; this version reads native JSON manifests only")
  }
}
