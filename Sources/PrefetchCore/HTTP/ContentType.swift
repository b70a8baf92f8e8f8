/// Media type derived from a file name's extension.
package enum ContentType {
  package static func forFile(named name: String) -> String {
    known(forFileNamed: name) ?? fallback
  }

  package static func known(forFileNamed name: String) -> String? {
    guard let dot = name.lastIndex(of: "."), !name[dot...].contains("/") else { return nil }
    return byExtension[name[name.index(after: dot)...].lowercased()]
  }

  private static let fallback = "application/octet-stream"

  private static let byExtension: [String: String] = [
    "aac": "audio/aac",
    "css": "text/css; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "gif": "image/gif",
    "gz": "application/gzip",
    "htm": "text/html; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4a": "audio/mp4",
    "m4s": "video/iso.segment",
    "mjs": "text/javascript; charset=utf-8",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ndjson": "application/x-ndjson",
    "pdf": "application/pdf",
    "plist": "application/x-plist",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "tgz": "application/gzip",
    "ts": "video/mp2t",
    "txt": "text/plain; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "wasm": "application/wasm",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff2": "font/woff2",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
