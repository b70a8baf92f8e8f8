enum PageText {
  static let width = 80

  static func withoutBackticks(_ text: String) -> String {
    text.filter { $0 != "`" }
  }

  /// Wraps text at ``width`` columns; a longer word has its own line.
  static func wrap(_ text: String, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in withoutBackticks(text).split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [margin + line]
  }

  static func entry(_ term: String, _ text: String, column: Int) -> [String] {
    let lines = wrap(text, indent: column)
    let label = "  \(term)"
    guard label.count + 2 <= column, let first = lines.first else { return [label] + lines }
    let padding = String(repeating: " ", count: column - label.count)
    return [label + padding + first.dropFirst(column)] + lines.dropFirst()
  }
}

extension String {
  var asSentence: String {
    hasSuffix(".") ? self : self + "."
  }
}
