import PrefetchConfig
import PrefetchCore

/// Segments by names or globs of the command line.
struct SegmentSelection {
  /// None means every segment.
  let patterns: [String]

  func contains(_ name: String) -> Bool {
    patterns.isEmpty || patterns.contains { Glob.matches($0, name) }
  }

  /// A name that matches nothing is a slip of the hand, and is found before anything is done.
  func diagnostics(among known: [String]) -> [Diagnostic] {
    patterns.filter { pattern in !known.contains { Glob.matches(pattern, $0) } }.map { name in
      Diagnostic(
        "usage.unknown-segment",
        "no segment is called `\(name)`",
        hint: Suggestion.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
          ?? (known.isEmpty
            ? nil : "the segments are \(known.map { "`\($0)`" }.joined(separator: ", "))")
      )
    }
  }
}
