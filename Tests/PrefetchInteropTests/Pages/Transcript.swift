import PrefetchTestSupport
import Testing

/// A user's session as a text file, which may come from a bug report.
///
/// A line that begins with `# ` is a remark. `== NAME` begins a file of the user's folder, and `==
/// origin/NAME` the response of `http://origin/NAME` from then on; a status and a header may follow the
/// name. Each ends at the next file or prompt. A command is followed by its output on both streams, with a final `[78]` for an exit
/// status other than 0.
struct Transcript {
  static let folder = "Tests/PrefetchInteropTests/Transcripts"

  /// The user's folder as transcripts show it.
  static let shownHome = "/home/me"
  static let shownOrigin = "http://origin/"

  private(set) var steps: [DocumentedSection.Step] = []

  init(_ name: String) throws {
    let path = RepositoryPage.path("\(Self.folder)/\(name)")
    let bytes = try #require(FileTree.read(path), "\(path)")
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var start = lines.firstIndex { !$0.isEmpty && !$0.hasPrefix("# ") } ?? lines.endIndex
    while start < lines.endIndex {
      let isFile = lines[start].hasPrefix("== ")
      try #require(isFile || lines[start].hasPrefix("$ "), "\(name): \(lines[start])")
      let end =
        lines[(start + 1)...].firstIndex {
          $0.hasPrefix("== ") || isFile && $0.hasPrefix("$ ")
        } ?? lines.endIndex
      if isFile {
        var text = Array(lines[(start + 1)..<end])
        while text.last?.isEmpty == true { text.removeLast() }
        let name = String(lines[start].dropFirst(3))
        steps.append(.file(name, text.map { "\($0)\n" }.joined()))
      } else {
        steps += DocumentedCommandLine.all(in: start..<end, of: lines).map { .command($0) }
      }
      start = end
    }
  }

  /// Returns whether the lines match; a line `…` matches any lines, and `…` within a line any text.
  static func holds(_ documented: ArraySlice<String>, _ shown: ArraySlice<String>) -> Bool {
    guard let line = documented.first else { return shown.isEmpty }
    if line == "…" {
      return (shown.startIndex...shown.endIndex).contains {
        holds(documented.dropFirst(), shown[$0...])
      }
    }
    guard let first = shown.first, holds(line, first) else { return false }
    return holds(documented.dropFirst(), shown.dropFirst())
  }

  private static func holds(_ documented: String, _ shown: String) -> Bool {
    let parts = documented.split(separator: "…", omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, parts.count > 1 else {
      return documented == shown
    }
    guard shown.hasPrefix(first) else { return false }
    var rest = shown.dropFirst(first.count)
    for part in parts[1..<(parts.count - 1)] {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}

extension DocumentedCommandLine {
  /// Output and exit status of a transcript's command.
  var outcome: (output: ArraySlice<String>, status: Int32) {
    guard let last = output.last, last.hasPrefix("["), last.hasSuffix("]"),
      let status = Int32(last.dropFirst().dropLast())
    else { return (output[...], 0) }
    return (output.dropLast(), status)
  }
}
