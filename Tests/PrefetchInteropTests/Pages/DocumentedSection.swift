import Testing

/// A section of a page, which is played from an empty folder to its end.
struct DocumentedSection: CustomTestStringConvertible {
  enum Step {
    case file(String, String)
    /// A script that readers do not see.
    case aside(String)
    case command(DocumentedCommandLine)
  }

  var title: String
  var needs: [String] = []
  var steps: [Step] = []
  /// Reasons why blocks of the section are not played.
  var unplayed: [String] = []
  var page = ""

  var testDescription: String { "\(page): \(title)" }

  var lacking: [String] {
    needs.filter { !Tool.isInstalled($0) }
  }

  var commands: [DocumentedCommandLine] {
    steps.compactMap { step in
      guard case .command(let command) = step else { return nil }
      return command
    }
  }
}

/// A command after a prompt, with its output.
struct DocumentedCommandLine {
  /// Text of the command; all lines but the last end with a backslash.
  var text: String
  /// Without empty lines at the end.
  var output: [String]
  /// The lines of the page that hold the output.
  var outputRange: Range<Int>
  /// Whether another command follows in the same block.
  var isFollowed: Bool

  /// Whether the command continues while later ones run.
  var isBackground: Bool { text.hasSuffix(" &") }

  /// Whether the command prints the exit status of the previous one.
  var showsStatus: Bool { text.hasPrefix("echo $?") }

  /// Returns the commands of a block; none unless the block begins with a prompt.
  static func all(in range: Range<Int>, of lines: [String]) -> [Self] {
    let starts = range.filter { lines[$0].hasPrefix("$ ") }
    guard starts.first == range.first else { return [] }
    return starts.enumerated().map { number, start in
      let end = number + 1 < starts.count ? starts[number + 1] : range.upperBound
      var last = start
      while lines[last].hasSuffix("\\"), last + 1 < end { last += 1 }
      var output = Array(lines[(last + 1)..<end])
      while output.last?.isEmpty == true { output.removeLast() }
      return Self(
        text: String(lines[start...last].joined(separator: "\n").dropFirst(2)),
        output: output,
        outputRange: (last + 1)..<end,
        isFollowed: number + 1 < starts.count
      )
    }
  }
}
