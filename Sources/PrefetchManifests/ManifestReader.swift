package import PrefetchCore
import PrefetchDocuments

/// Manifest bytes into entries, whatever format they turn out to be.
package enum ManifestReader {
  /// Throws when nothing of it can be used; entries that break a rule come back as rejected ones.
  package static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let content = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guard let first = content.first(where: { !" \t\r\n".utf8.contains($0) }) else {
      return Manifest()
    }
    switch first {
    case UInt8(ascii: "{"):
      return try NativeManifest.read(content, source: source)
    case UInt8(ascii: "<"):
      throw markup(content)
    default:
      throw Failure(
        .manifestInvalid,
        "it is no prefetch manifest: it begins with neither `{` nor anything else that is known"
      )
    }
  }

  private static func markup(_ content: [UInt8]) -> Failure {
    let head = String(decoding: content.prefix(1024), as: UTF8.self).lowercased()
    if ["<html", "<!doctype html", "<head", "<body"].contains(where: { head.contains($0) }) {
      return Failure(.manifestGuard, "an HTML page came in its place")
    }
    return Failure(.manifestInvalid, "it is XML; this version reads native JSON manifests only")
  }
}
