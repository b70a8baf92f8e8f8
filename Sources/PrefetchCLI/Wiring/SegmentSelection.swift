import PrefetchConfig
import PrefetchCore

struct SegmentSelection {
  let patterns: [String]

  func contains(_ name: String) -> Bool {
    patterns.isEmpty || patterns.contains { Glob.matches($0, name) }
  }

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
