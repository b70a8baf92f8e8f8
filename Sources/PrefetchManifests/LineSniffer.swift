internal import PrefetchCore

/// Guesses the kind of a text from its first lines.
enum LineSniffer {
  private static let maximumLines = 200

  @unsafe static func find(_ bytes: UnsafeRawBufferPointer) -> FormatSniffer.Finding {
    var lines = unsafe TextLines(bytes)
    var isSigned = false
    var isTOML = false
    for _ in 0..<maximumLines {
      guard let line = lines.next() else { break }
      let content = lines.trimmed(line.range)
      guard !content.isEmpty, let text = lines.text(content) else { continue }
      // `---` begins a YAML document and says nothing about its kind.
      if text == "---" { continue }
      if text == "-----BEGIN PGP SIGNED MESSAGE-----" {
        isSigned = true
        continue
      }
      if isSigned, text.hasPrefix("Hash: ") { continue }
      if ChecksumLine(content, lines) != nil { return .kind(.checksums) }
      if text.hasPrefix("[[package]]") { isTOML = true }
      if let kind = kind(text, isTOML: isTOML, isSigned: isSigned) { return .kind(kind) }
    }
    return isSigned ? .kind(.checksums) : .syntax(.text, root: nil)
  }

  private static func kind(_ text: String, isTOML: Bool, isSigned: Bool) -> DocumentKind? {
    if let kind = FormatTable.kind(line: text) { return kind }
    if isTOML, text.hasPrefix("checksum = ") { return .cargoLock }
    if isTOML, text.hasPrefix("source = {") { return .uvLock }
    if isTOML, text.hasPrefix("source = \"") { return .cargoLock }
    guard !text.hasPrefix("#") else { return nil }
    if text == "@EXPLICIT" { return .list }
    if text.hasPrefix("https://") || text.hasPrefix("http://") { return .list }
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    if words.count == 3, words[2].hasPrefix("h1:") { return .goSum }
    return isRequirement(text) ? .pip : nil
  }

  /// Returns whether a line is a requirement (`name==1.0`, `name @ https://…`) or an option of pip.
  private static func isRequirement(_ text: String) -> Bool {
    let options = [
      "-r ", "-c ", "-i ", "-f ", "--hash=", "--index-url", "--extra-index-url", "--no-index",
      "--find-links", "--require-hashes", "--no-binary", "--only-binary", "--requirement",
      "--constraint", "--pre", "--trusted-host",
    ]
    if options.contains(where: { text.hasPrefix($0) }) { return true }
    let name = text.utf8.prefix { byte in
      ASCII.isDigit(byte) || "-_.".utf8.contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    guard !name.isEmpty else { return false }
    var rest = text.utf8[name.endIndex...].drop { $0 == 0x20 }
    if rest.first == UInt8(ascii: "[") {
      rest = rest.drop { $0 != UInt8(ascii: "]") }.dropFirst().drop { $0 == 0x20 }
    }
    return ["==", ">=", "<=", "~=", "!=", "@ "].contains { rest.starts(with: $0.utf8) }
  }
}
