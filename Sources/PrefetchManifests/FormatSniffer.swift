internal import PrefetchCore

/// Guesses a document's kind from its first bytes.
enum FormatSniffer {
  enum Finding: Equatable {
    case kind(DocumentKind)
    /// A known syntax of an unknown kind; `root` is the root element of an XML document.
    case syntax(FormatRow.Syntax, root: String?)
    case page
    case binary(String)
  }

  private static let window = 65_536
  private static let pageMarks = ["<html", "<!doctype html", "<head", "<body"]

  /// Returns what the bytes are; they must be neither empty nor begin with blanks or a mark.
  @unsafe static func find(_ bytes: UnsafeRawBufferPointer) -> Finding {
    if let words = unsafe packing(bytes) { return .binary(words) }
    switch unsafe bytes.first {
    case UInt8(ascii: "<"): return unsafe markup(bytes)
    case UInt8(ascii: "{"): return unsafe KeySniffer.find(bytes)
    case UInt8(ascii: "["):
      // A TOML table header begins with a bracket, too.
      let head = unsafe Array(bytes.prefix(256))
      return isTable(head) ? unsafe LineSniffer.find(bytes) : unsafe KeySniffer.findInArray(bytes)
    default: return unsafe LineSniffer.find(UnsafeRawBufferPointer(rebasing: bytes.prefix(window)))
    }
  }

  static func isMarkup(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }
  }

  /// Returns whether the first line is a TOML table header, such as `[[package]]` or `[metadata]`.
  private static func isTable(_ head: [UInt8]) -> Bool {
    let line = head.prefix { $0 != 0x0A && $0 != 0x0D }
    let inner = line.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
    guard let first = inner.first, inner.endIndex < line.endIndex else { return false }
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
      && inner.allSatisfy { byte in
        ASCII.isDigit(byte) || "-_.".utf8.contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      } && !["true", "false", "null"].contains(String(decoding: inner, as: UTF8.self))
  }

  @unsafe private static func packing(_ bytes: UnsafeRawBufferPointer) -> String? {
    let marks: [([UInt8], String)] = [
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "it is packed with xz; of packed ones, gzip is read"),
      ([0x28, 0xB5, 0x2F, 0xFD], "it is packed with zstd; of packed ones, gzip is read"),
      ([0x42, 0x5A, 0x68], "it is packed with bzip2; of packed ones, gzip is read"),
      ([0x50, 0x4B, 0x03, 0x04], "it is a zip archive"),
      ([0xFF, 0xFE], "it is written in UTF-16; save it as UTF-8"),
      ([0xFE, 0xFF], "it is written in UTF-16; save it as UTF-8"),
    ]
    for (mark, words) in marks where unsafe bytes.starts(with: mark) { return words }
    return unsafe bytes.prefix(512).contains(0) ? "it is not text, but holds zeros" : nil
  }

  // MARK: Markup

  @unsafe private static func markup(_ bytes: UnsafeRawBufferPointer) -> Finding {
    let text = unsafe String(decoding: bytes.prefix(window), as: UTF8.self)
    let root = root(of: text[...])
    if let row = FormatTable.row(root: root) { return .kind(row.kind) }
    let head = String(text.unicodeScalars.prefix(1024)).lowercased()
    if pageMarks.contains(where: { head.contains($0) }) { return .page }
    return .syntax(.xml, root: root.isEmpty ? nil : root)
  }

  private static func root(of text: Substring) -> String {
    var rest = text
    while true {
      rest = rest.drop { character in character.utf8.allSatisfy { " \t\r\n".utf8.contains($0) } }
      guard rest.hasPrefix("<") else { return "" }
      let end: String
      if rest.hasPrefix("<!--") {
        end = "-->"
      } else if rest.hasPrefix("<?") {
        end = "?>"
      } else if rest.hasPrefix("<!") {
        let holdsMore = rest.prefix { $0 != ">" }.contains("[")
        if holdsMore { rest = rest.drop { $0 != "]" } }
        end = ">"
      } else {
        let name = rest.dropFirst().prefix { character in
          character.utf8.allSatisfy { !" \t\r\n/>".utf8.contains($0) }
        }
        return String(name.split(separator: ":").last ?? "")
      }
      guard let range = rest.firstRange(of: end) else { return "" }
      rest = rest[range.upperBound...]
    }
  }
}
