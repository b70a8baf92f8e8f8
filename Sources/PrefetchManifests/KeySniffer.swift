internal import PrefetchCore

/// Guesses the kind of a JSON object from its top-level keys.
enum KeySniffer {
  @unsafe static func find(_ bytes: UnsafeRawBufferPointer) -> FormatSniffer.Finding {
    guard var cursor = unsafe JSONCursor(bytes) else { return .syntax(.json, root: nil) }
    return find(&cursor)
  }

  /// Decides by the first element of an array whether it is a list of known objects.
  @unsafe static func findInArray(_ bytes: UnsafeRawBufferPointer) -> FormatSniffer.Finding {
    guard var cursor = unsafe JSONCursor(bytes), cursor.accept(UInt8(ascii: "[")),
      case .kind(let kind) = find(&cursor), FormatTable.row(kind)?.mayBeArray == true
    else { return .syntax(.json, root: nil) }
    return .kind(kind)
  }

  private static func find(_ cursor: inout JSONCursor) -> FormatSniffer.Finding {
    guard cursor.accept(UInt8(ascii: "{")) else { return .syntax(.json, root: nil) }
    var seen: Set<String> = []
    repeat {
      guard cursor.next() == UInt8(ascii: "\""), let key = cursor.string(),
        cursor.accept(UInt8(ascii: ":"))
      else { break }
      let name = key.count <= 32 ? cursor.text(key) : ""
      if name == "format", cursor.next() == UInt8(ascii: "\"") {
        var ahead = cursor
        let value = ahead.string().map { ahead.text($0) } ?? ""
        if value == "prefetch-manifest" { return .kind(.native) }
        if value.hasPrefix(LockfileText.formatName) { return .kind(.lockfile) }
      }
      seen.insert(name)
      if let kind = FormatTable.kind(keys: seen) { return .kind(kind) }
      guard seen.count <= 64, cursor.skipValue() else { break }
    } while cursor.accept(UInt8(ascii: ","))
    return FormatTable.kind(lastKeys: seen).map { .kind($0) } ?? .syntax(.json, root: nil)
  }
}
