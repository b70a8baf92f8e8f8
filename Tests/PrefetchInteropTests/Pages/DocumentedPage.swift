import Testing

/// A page with commands for readers.
///
/// In Markdown, a block's info string states its kind: `console` for commands with output, `yaml
/// prefetch.yaml` for a file, `sh not played: WHY` for a block that no test can run. In a manual
/// page a comment before the block does so, unless its first line has a prompt. Comments that begin
/// with `play:` run steps that readers do not see, such as a change at a server; `needs:` names
/// required programs.
struct DocumentedPage {
  enum Writing {
    case markdown
    case manual
  }

  /// From the top of the repository.
  var name: String
  var writing: Writing
  var lines: [String]
  var sections: [DocumentedSection]
  /// Blocks that nothing is known of, by their lines.
  var unclear: [Int] = []

  init(_ name: String) throws {
    self.name = name
    writing = name.hasSuffix(".md") ? .markdown : .manual
    let bytes = try #require(FileTree.read(RepositoryPage.path(name)), "\(name)")
    let text = String(decoding: bytes, as: UTF8.self)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    sections = []
    read()
  }

  private mutating func read() {
    var section = DocumentedSection(title: "")
    var comment: [String]?
    var marks: [String] = []
    var index = 0
    while index < lines.count {
      let line = lines[index]
      if let title = title(line) {
        sections.append(section)
        section = DocumentedSection(title: title)
      }
      if let text = commentBegin(line) { comment = [text] } else { comment?.append(line) }
      if let text = comment, let whole = closed(text) {
        comment = nil
        if whole.hasPrefix("needs: ") {
          section.needs += whole.dropFirst(7).split(separator: " ").map(String.init)
        } else if whole.hasPrefix("play: ") {
          section.steps.append(.aside(String(whole.dropFirst(6))))
        } else {
          marks.append(whole)
        }
      }
      if comment == nil, let mark = blockBegin(line, marks) {
        let end = lines[(index + 1)...].firstIndex(where: isBlockEnd) ?? lines.endIndex
        add((index + 1)..<end, mark, to: &section)
        marks = []
        index = end
      }
      index += 1
    }
    sections.append(section)
  }

  private mutating func add(
    _ range: Range<Int>,
    _ mark: String,
    to section: inout DocumentedSection
  ) {
    if mark.hasPrefix("file: ") {
      let text = range.map { unmarked(lines[$0]) + "\n" }.joined()
      section.steps.append(.file(String(mark.dropFirst(6)), text))
    } else if mark.hasPrefix("not played: ") {
      section.unplayed.append(String(mark.dropFirst(12)))
    } else if mark == "console" {
      section.steps += DocumentedCommandLine.all(in: range, of: lines.map(unmarked)).map {
        .command($0)
      }
    } else {
      unclear.append(range.lowerBound)
    }
  }
}

// MARK: The two writings

extension DocumentedPage {
  private func title(_ line: String) -> String? {
    switch writing {
    case .markdown: line.hasPrefix("## ") ? String(line.dropFirst(3)) : nil
    case .manual: line.hasPrefix(".SH ") ? line.dropFirst(4).filter { $0 != "\"" } : nil
    }
  }

  private func commentBegin(_ line: String) -> String? {
    switch writing {
    case .markdown: line.hasPrefix("<!-- ") ? String(line.dropFirst(5)) : nil
    case .manual: line.hasPrefix(".\\\" ") ? String(line.dropFirst(4)) : nil
    }
  }

  /// Returns a comment's text once the comment is complete.
  private func closed(_ comment: [String]) -> String? {
    let text = comment.joined(separator: "\n")
    guard writing == .markdown else { return text }
    return text.hasSuffix(" -->") ? String(text.dropLast(4)) : nil
  }

  /// Returns the kind of the block that begins in a line; nil when none does.
  private func blockBegin(_ line: String, _ marks: [String]) -> String? {
    switch writing {
    case .markdown:
      guard line.hasPrefix("```") else { return nil }
      let words = line.dropFirst(3).split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { return words.first ?? "" }
      return words[1].hasPrefix("not played: ") ? words[1] : "file: \(words[1])"
    case .manual:
      guard line == ".nf" else { return nil }
      return marks.last ?? "console"
    }
  }

  private func isBlockEnd(_ line: String) -> Bool {
    switch writing {
    case .markdown: line == "```"
    case .manual: line == ".fi"
    }
  }

  /// Returns a line of a block as a terminal shows it.
  private func unmarked(_ line: String) -> String {
    guard writing == .manual else { return line }
    var text = line
    for (written, shown) in Self.escapes { text = text.replacing(written, with: shown) }
    return text
  }

  private func written(_ line: String) -> String {
    guard writing == .manual else { return line }
    var text = line.replacing("\\", with: "\\e")
    for (written, shown) in Self.escapes where shown != "" && shown != "\\" {
      text = text.replacing(shown, with: written)
    }
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&\(text)" : text
  }

  /// In the order in which they are taken back.
  private static let escapes = [
    ("\\&", ""), ("\\fB", ""), ("\\fR", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(dq", "\""),
    ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\[u2026]", "…"), ("\\[u2013]", "–"),
    ("\\[u2192]", "→"), ("\\e", "\\"),
  ]

  /// Replaces the recorded outputs by the actual ones.
  mutating func renew(_ outputs: [(command: DocumentedCommandLine, lines: [String])]) {
    for (command, output) in outputs.reversed() {
      let range = command.outputRange
      let isApart = command.isFollowed && range.last.map { lines[$0].isEmpty } == true
      lines.replaceSubrange(range, with: output.map(written) + (isApart ? [""] : []))
    }
    FileTree.write(Array(lines.joined(separator: "\n").utf8), to: RepositoryPage.path(name))
  }
}
