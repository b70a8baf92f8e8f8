/// Renders a diagnostic: location, message, marked source line and hint.
package struct DiagnosticRenderer: Sendable {
  package var usesColor = false
  package var width = 120

  package init(usesColor: Bool = false) {
    self.usesColor = usesColor
  }

  /// Returns lines without a final line feed; `line` returns a line of a file, if there is one.
  package func render(
    _ diagnostic: Diagnostic,
    line: (_ file: String, _ number: Int) -> String?
  ) -> String {
    var lines = [heading(of: diagnostic)]
    if let location = diagnostic.location, !diagnostic.hidesSource,
      let text = line(location.file, location.line), !SourceExcerpt.mayHoldSecret(text)
    {
      let gutter = String(location.line)
      let excerpt = SourceExcerpt(text, location: location, width: width - gutter.count - 8)
      let margin = String(repeating: " ", count: gutter.count)
      lines.append("   \(gutter) | \(excerpt.text)")
      lines.append("   \(margin) | \(excerpt.padding)\(colored(excerpt.marker, .green))")
    }
    if let hint = diagnostic.hint {
      lines.append("\(colored("hint:", .cyan)) \(DisplayText.escaped(hint))")
    }
    return lines.joined(separator: "\n")
  }

  private func heading(of diagnostic: Diagnostic) -> String {
    let location = location(of: diagnostic)
    let start = location.map { "\(DisplayText.escaped(UserInformation.masked($0))): " } ?? ""
    let severity = colored("\(diagnostic.severity.rawValue):", color(of: diagnostic.severity))
    return "\(start)\(severity) \(DisplayText.escaped(diagnostic.message))  [\(diagnostic.code)]"
  }

  private func location(of diagnostic: Diagnostic) -> String? {
    if let location = diagnostic.location { return location.description }
    guard let file = diagnostic.file, let path = diagnostic.path, !file.hasPrefix("-"),
      !file.hasPrefix("PREFETCH_")
    else { return diagnostic.file }
    return "\(file): \(path)"
  }

  private enum Color: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
  }

  private func color(of severity: Diagnostic.Severity) -> Color {
    switch severity {
    case .error: .red
    case .warning: .yellow
    case .note: .cyan
    }
  }

  private func colored(_ text: String, _ color: Color) -> String {
    usesColor ? "\u{1B}[1;\(color.rawValue)m\(text)\u{1B}[0m" : text
  }
}

private struct SourceExcerpt {
  var text: String
  var padding: String
  var marker: String

  private static let ellipsis = "…"

  init(_ line: String, location: SourceLocation, width: Int) {
    let cells = line.unicodeScalars.map(DisplayText.cell)
    let start = min(location.column - 1, cells.count)
    let end = min(start + location.length, max(cells.count, start + 1))
    let limit = max(20, width)
    var first = 0
    let isLong = cells.reduce(0, { $0 + $1.count }) > limit
    if isLong {
      var room = limit / 3
      first = start
      while first > 0, room >= cells[first - 1].count {
        first -= 1
        room -= cells[first].count
      }
    }
    let lead = first > 0 ? Self.ellipsis : ""
    var shown = ""
    var next = first
    while next < cells.count, shown.count + cells[next].count <= limit - 2 || !isLong {
      shown += cells[next]
      next += 1
    }
    text = lead + shown + (next < cells.count ? Self.ellipsis : "")
    let before = cells[first..<max(first, start)].reduce(0) { $0 + $1.count }
    padding = String(repeating: " ", count: before + lead.count)
    let visible = cells[min(start, next)..<min(end, next)].reduce(0) { $0 + $1.count }
    marker = "^" + String(repeating: "~", count: max(0, visible - 1))
  }

  /// Whether a line sets a license or password, which stays hidden even if parsing failed.
  static func mayHoldSecret(_ line: String) -> Bool {
    let lower = line.lowercased()
    let words = [
      "license", "licence", "api_key", "api-key", "apikey", "authorization", "password", "cookie",
      "token", "secret",
    ]
    if holdsSecretURL(line) { return true }
    return words.contains { word in
      guard let range = lower.firstRange(of: word) else { return false }
      let rest = lower[range.upperBound...]
      guard let mark = rest.firstIndex(where: { ":=>".contains($0) }) else { return false }
      return !isVariable(rest[rest.index(after: mark)...])
    }
  }
}

extension SourceExcerpt {
  private static func isVariable(_ value: Substring) -> Bool {
    var rest = value.drop { " \"'".contains($0) }
    if rest.hasPrefix("bearer ") { rest = rest.dropFirst(7) }
    return rest.hasPrefix("${")
  }

  private static func holdsSecretURL(_ line: String) -> Bool {
    UserInformation.masked(line) != line
      || line.split(whereSeparator: { " \t\"'<>,".contains($0) }).contains { word in
        guard word.contains("?"), let scheme = word.firstRange(of: "http") else { return false }
        let text = word[scheme.lowerBound...]
        return (try? WebURL(text)).map { $0.redacted != $0.string } ?? false
      }
  }
}

/// Untrusted text made safe for a terminal.
package enum DisplayText {
  package static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    return text.unicodeScalars.map(cell).joined()
  }

  static func cell(_ scalar: Unicode.Scalar) -> String {
    if scalar == "\t" { return " " }
    guard isUnsafe(scalar) else { return String(scalar) }
    return "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: scalar != "\t"
    default: false
    }
  }
}
