/// Recognizes documents of items of several files by media type and first bytes; both must agree.
extension BundleForm {
  package static func recognized(type: String?, path: String, prefix: [UInt8]) -> BundleForm? {
    guard mayBegin(prefix) else { return nil }
    let type = type.map { $0.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased() }
    let saysNothing = type.map(vagueTypes.contains) ?? true
    if beginsPlaylist(prefix) {
      let isNamed = path.utf8.suffix(5).map(ASCII.lowercased).elementsEqual(".m3u8".utf8)
      return type?.contains("mpegurl") == true || saysNothing && isNamed ? .stream : nil
    }
    guard PageGuard.begins(PageGuard.withoutPreamble(prefix[...]), withElement: "VAST")
    else { return nil }
    let isMarkup = type?.contains("xml") == true && type?.contains("xhtml") == false
    return isMarkup || saysNothing || type == "application/vast" ? .ad : nil
  }

  static func recognized(of response: TransferResponse, at url: WebURL) -> BundleForm? {
    guard let body = response.body else { return nil }
    let type = response.headers[.contentType]
    return recognized(type: type, path: url.path, prefix: body.prefix)
  }

  /// Types that servers give to unknown files.
  private static let vagueTypes: Set<String> = [
    "", "text/plain", "application/octet-stream", "binary/octet-stream",
  ]

  /// Whether a closer check is needed; most bodies begin with another byte.
  static func mayBegin(_ prefix: [UInt8]) -> Bool {
    switch prefix.first {
    case UInt8(ascii: "#"), UInt8(ascii: "<"), 0xEF, 0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D: true
    default: false
    }
  }

  private static func beginsPlaylist(_ prefix: [UInt8]) -> Bool {
    let text = prefix[...].trimmed
    let word = "#EXTM3U".utf8
    guard text.starts(with: word) else { return false }
    return text.dropFirst(word.count).first.map { $0 <= 0x20 } ?? true
  }
}

extension SegmentDeclaration {
  /// Whether undeclared playlists and ads are recognized: not in plain trees, nor for single URLs.
  package var recognizesBundles: Bool {
    guard isStored, !requestsHeadOnly, !name.isEmpty else { return false }
    return publishing.map { $0.layout == .hls && $0.mirror == nil } ?? true
  }
}
