/// Prose for a terminal of 80 columns.
enum PageText {
  static let width = 80

  /// Literals lose their backticks, since nothing else marks them here.
  static func plain(_ text: String) -> String {
    text.filter { $0 != "`" }
  }

  /// Lines of at most ``width`` columns; a word that is longer has a line of its own.
  static func wrap(_ text: String, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in plain(text).split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [margin + line]
  }

  /// A term and its explanation beside it, or below where the term is too long.
  static func entry(_ term: String, _ text: String, column: Int) -> [String] {
    let lines = wrap(text, indent: column)
    let label = "  \(term)"
    guard label.count + 2 <= column, let first = lines.first else { return [label] + lines }
    let padding = String(repeating: " ", count: column - label.count)
    return [label + padding + first.dropFirst(column)] + lines.dropFirst()
  }
}

extension String {
  /// As a sentence of its own, with its full stop.
  var asSentence: String {
    hasSuffix(".") ? self : self + "."
  }
}
