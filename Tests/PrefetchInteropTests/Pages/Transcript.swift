import PrefetchTestSupport
import Testing

/// What one user typed and saw, as a text file has it; the report of a fault can be one.
///
/// A line that begins with `# ` is a remark. `== NAME` begins a file of the user's folder, and
/// `== origin/NAME` what `http://origin/NAME` answers from then on, with a status and a header of
/// its own where these follow the name; it ends where the next begins, or the next prompt. Below a command stands what it prints on both streams, and the exit status
/// as `[78]` in the last line where it is not 0.
struct Transcript {
  static let folder = "Tests/PrefetchInteropTests/Transcripts"

  /// The user's folder, as a transcript has it.
  static let shownHome = "/home/me"
  static let shownOrigin = "http://origin/"

  private(set) var steps: [ToldSection.Step] = []

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
        steps += ToldCommandLine.all(in: start..<end, of: lines).map { .command($0) }
      }
      start = end
    }
  }

  /// Whether these lines are what a transcript has: `…` alone in a line stands for any lines, and
  /// within one for any text.
  static func holds(_ told: ArraySlice<String>, _ shown: ArraySlice<String>) -> Bool {
    guard let line = told.first else { return shown.isEmpty }
    if line == "…" {
      return (shown.startIndex...shown.endIndex).contains { holds(told.dropFirst(), shown[$0...]) }
    }
    guard let first = shown.first, holds(line, first) else { return false }
    return holds(told.dropFirst(), shown.dropFirst())
  }

  private static func holds(_ told: String, _ shown: String) -> Bool {
    let parts = told.split(separator: "…", omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, parts.count > 1 else {
      return told == shown
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

extension ToldCommandLine {
  /// What it prints, and how it ends, where the last line of a transcript says that.
  var ending: (output: ArraySlice<String>, status: Int32) {
    guard let last = output.last, last.hasPrefix("["), last.hasSuffix("]"),
      let status = Int32(last.dropFirst().dropLast())
    else { return (output[...], 0) }
    return (output.dropLast(), status)
  }
}
