/// Text in terminal columns; a scalar takes none, one or two.
enum ColumnText {
  static func width(of text: String) -> Int {
    // Fast path: nearly all text is ASCII.
    if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
  }

  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - width(of: text)))
  }

  static func cut(_ text: String, to columns: Int) -> String {
    guard width(of: text) > columns else { return text }
    return String(prefix(of: text, columns))
  }

  /// Returns both ends with dots between; a URL keeps its host if half the room is enough.
  static func shortened(_ text: String, to columns: Int) -> String {
    guard width(of: text) > columns else { return text }
    guard columns > dots.count + 2 else { return cut(text, to: columns) }
    let room = columns - dots.count
    let beginning = address(of: text).map { min(width(of: $0), room / 2) } ?? room / 2
    let head = prefix(of: text, beginning)
    let tail = suffix(of: text, room - width(of: String(head)))
    return head + dots + tail
  }

  private static let dots = "..."

  private static func address(of text: String) -> String? {
    guard let slashes = text.firstRange(of: "://") else { return nil }
    let end = text[slashes.upperBound...].firstIndex(of: "/") ?? text.endIndex
    return end < text.endIndex ? String(text[...end]) : text
  }

  private static func prefix(of text: String, _ columns: Int) -> Substring {
    var left = columns
    let end = text.firstIndex { letter in
      left -= width(of: String(letter))
      return left < 0
    }
    return text[..<(end ?? text.endIndex)]
  }

  private static func suffix(of text: String, _ columns: Int) -> Substring {
    var left = columns
    var start = text.endIndex
    while start > text.startIndex {
      let before = text.index(before: start)
      left -= width(of: String(text[before]))
      guard left >= 0 else { break }
      start = before
    }
    return text[start...]
  }

  /// Returns the columns of a scalar; terminals treat some more as wide, never fewer.
  private static func width(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default:
      return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }
}

extension ColumnText {
  /// Breaks text at blanks into lines of at most `columns`; all but the first are indented.
  static func wrapped(_ text: String, to columns: Int, indent: Int) -> [String] {
    guard width(of: text) > columns, columns > indent else { return [text] }
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    // Runs of blanks that align columns are kept.
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let longer = line.isEmpty && lines.isEmpty ? String(word) : "\(line) \(word)"
      if line.isEmpty || width(of: longer) <= columns {
        line = line.isEmpty && !lines.isEmpty ? margin + word : longer
      } else {
        lines.append(line)
        line = margin + word
      }
    }
    return lines + [line]
  }
}
