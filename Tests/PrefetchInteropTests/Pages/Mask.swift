/// Masks the insignificant differences between two runs of a command.
enum Mask {
  /// Returns a whole output with masked lines; lines in random order are sorted.
  static func covered(_ lines: [String]) -> [String] {
    var result: [String] = []
    for line in lines.map(covered) {
      var index = result.endIndex
      if isItem(line) {
        while index > 0, isItem(result[index - 1]), line < result[index - 1] { index -= 1 }
      }
      result.insert(line, at: index)
    }
    return result
  }

  /// Whether a report names an item in this line.
  private static func isItem(_ line: String) -> Bool {
    ["  added ", "  updated ", "  removed ", "added\t"].contains { line.hasPrefix($0) }
  }

  /// Returns a line with times, ports and keys masked.
  static func covered(_ line: String) -> String {
    line
      // Keys come first, since they may contain what looks like a time.
      .replacing(/[A-Za-z0-9+\/]{43}=/, with: "PIN")
      .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+Z?)?/, with: "DATE")
      .replacing(/127\.0\.0\.1:[0-9]+/, with: "127.0.0.1:PORT")
      .replacing(/[0-9.]+ (?:B|kB|MB) received/, with: "BYTES received")
      .replacing(/\b[0-9]+(?:\.[0-9]+)? ?(?:ms|s)\b/, with: "TIME")
      .replacing(
        /\b(?:prefetch|curl|libcurl|openssl|sqlite)[\/ ][0-9][0-9A-Za-z.+~-]*/,
        with: "VERSION"
      )
  }
}
