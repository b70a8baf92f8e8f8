/// Rejects pages that broken servers and hotel networks send with a 200 in place of other items.
///
/// No setting turns this off, but a body with the declared digest is not checked.
package enum PageGuard {
  /// Returns why a body cannot be what `entry` declares; `prefix` are its first bytes.
  package static func objection(
    type: String?,
    prefix: [UInt8],
    entry: ManifestEntry
  ) -> Failure? {
    guard let kind = declaredKind(of: entry), isPage(type: type, prefix: prefix, insteadOf: kind)
    else { return nil }
    return Failure(.unexpectedContent, "it is an HTML page, not the expected file")
  }

  static func mayBePage(type: String?, prefix: [UInt8]) -> Bool {
    let first = prefix.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    return first == UInt8(ascii: "<") || first == 0xEF || type.map(mayBePageType) == true
  }

  /// Kinds of declared content that cannot be a page.
  enum Material: Hashable, Sendable {
    case binary
    case text
    /// XML in all its forms, which begins much like a page.
    case markup
  }

  static func declaredKind(of entry: ManifestEntry) -> Material? {
    if let mime = entry.mime { return kind(ofType: BodyCheck.essence(mime), whole: mime) }
    switch entry.type {
    case "image", "video", "audio": return .binary
    case "hls": return .text
    case "dash", "vast": return .markup
    case "page": return nil
    default: return suffix(of: entry.url).flatMap { kinds[$0] }
    }
  }

  private static func kind(ofType essence: String, whole: String) -> Material? {
    let type = whole.prefix { $0 != ";" }.lowercased()
    if isPageType(essence) { return nil }
    if type.contains("xml") || type.contains("dash") || essence == "image/svg" { return .markup }
    if ["image/", "audio/", "video/", "font/"].contains(where: essence.hasPrefix) {
      return type.contains("mpegurl") ? .text : .binary
    }
    if type.contains("json") || type.contains("mpegurl") || type.contains("javascript") {
      return .text
    }
    return essence.hasPrefix("application/") ? .binary : nil
  }

  private static func suffix(of url: WebURL) -> String? {
    let path = url.path.utf8
    guard let end = path.lastIndex(where: { dotOrSlash.contains($0) }), path[end] == dotOrSlash[0]
    else { return nil }
    return String(url.path[path.index(after: end)...]).lowercased()
  }

  private static let dotOrSlash = [UInt8(ascii: "."), UInt8(ascii: "/")]

  private static func isPage(type: String?, prefix: [UInt8], insteadOf kind: Material) -> Bool {
    let text = withoutPreamble(prefix[...])
    if text.first == UInt8(ascii: "<"),
      begins(text, with: "<!doctype html") || begins(text, with: "<html")
    {
      return true
    }
    guard let type, mayBePageType(type), isPageType(BodyCheck.essence(type)) else { return false }
    // Many servers label unknown content as HTML, so bytes that no page begins with weigh more.
    switch kind {
    case .binary: return isText(prefix)
    case .text: return text.first == UInt8(ascii: "<") || text.isEmpty
    case .markup: return prefix[...].trimmed.first != UInt8(ascii: "<")
    }
  }

  /// Whether a type has an `h`; most types do not, and need not be parsed.
  private static func mayBePageType(_ type: String) -> Bool {
    type.utf8.contains { ASCII.lowercased($0) == UInt8(ascii: "h") }
  }

  static func isPageType(_ essence: String) -> Bool {
    essence == "text/html" || essence == "application/xhtml"
  }

  /// Drops a byte order mark, blanks, an XML declaration and comments.
  static func withoutPreamble(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.trimmed
    while rest.first == UInt8(ascii: "<") {
      if begins(rest, with: "<!--") {
        rest = rest.behind("-->").trimmed
      } else if begins(rest, with: "<?") {
        rest = rest.behind("?>").trimmed
      } else {
        return rest
      }
    }
    return rest
  }

  static func begins(_ bytes: ArraySlice<UInt8>, withElement name: String) -> Bool {
    guard bytes.first == UInt8(ascii: "<"), bytes.dropFirst().starts(with: name.utf8) else {
      return false
    }
    let next = bytes.dropFirst(1 + name.utf8.count).first ?? UInt8(ascii: ">")
    return next <= 0x20 || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
  }

  private static func begins(_ bytes: ArraySlice<UInt8>, with word: String) -> Bool {
    bytes.count >= word.utf8.count
      && zip(bytes, word.utf8).allSatisfy { ASCII.lowercased($0) == $1 }
  }

  /// Whether bytes have no control characters, as compressed bytes soon do.
  static func isText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) || $0 == 0x1B }
  }

  private static let kinds: [String: Material] = {
    var kinds: [String: Material] = [:]
    let binary =
      "gz tgz xz txz zst bz2 br 7z zip rar jar whl egg crate gem deb rpm apk ipa aab dmg msi exe iso img "
      + "tar bin so wasm png jpg jpeg gif webp avif heic ico bmp tif tiff mp3 m4a aac ogg oga opus flac "
      + "wav mp4 m4s m4v mkv webm mov avi ts mpg mpeg pdf woff woff2 ttf otf sqlite db pbf mvt "
      + "safetensors onnx parquet"
    for suffix in binary.split(separator: " ") { kinds[String(suffix)] = .binary }
    for suffix in [
      "json", "ndjson", "jsonl", "geojson", "m3u8", "m3u", "css", "js", "mjs", "csv", "vtt",
    ] {
      kinds[suffix] = .text
    }
    for suffix in ["xml", "mpd", "svg", "plist", "rss", "atom", "vast"] { kinds[suffix] = .markup }
    return kinds
  }()
}

extension ArraySlice<UInt8> {
  var trimmed: ArraySlice<UInt8> {
    let rest = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    return rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
  }

  fileprivate func behind(_ end: String) -> ArraySlice<UInt8> {
    let end = Array(end.utf8)
    var rest = self
    while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
    return rest.dropFirst(end.count)
  }
}
