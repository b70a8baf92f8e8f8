import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// Files of published trees that are not as they were published, by segment.
struct ChangedTrees {
  typealias Problem = TreeInspection.Damage.Problem

  let segments: [String: [TreeInspection.Damage]]

  init() {
    segments = [:]
  }

  init(_ inspection: TreeInspection) {
    segments = Dictionary(grouping: inspection.bad, by: \.segment)
  }

  private static let words: [(Problem, String)] = [
    (.missing, "missing"), (.changed, "changed"), (.foreign, "replaced by another file"),
  ]

  /// Returns counts such as `2 missing, 1 changed`; nil where the tree is as it was published.
  func counts(of segment: String) -> String? {
    Self.counts(segments[segment] ?? [])
  }

  private static func counts(_ damages: [TreeInspection.Damage]) -> String? {
    guard !damages.isEmpty else { return nil }
    return words.compactMap { problem, word in
      let count = damages.count { $0.problem == problem }
      return count > 0 ? "\(count) \(word)" : nil
    }.joined(separator: ", ")
  }

  /// Returns a warning about files with one of these problems; nil means all problems.
  func warning(of segment: String, _ problems: Set<Problem>? = nil) -> [Diagnostic] {
    let damages = (segments[segment] ?? []).filter { problems?.contains($0.problem) ?? true }
    guard let first = damages.first, let counts = Self.counts(damages) else { return [] }
    return [
      Diagnostic(
        "publish.differs",
        "files of segment `\(segment)` are not as published: \(counts), the first `\(first.path)`",
        severity: .warning,
        hint: "a run publishes what is missing again, and leaves what another file has replaced"
      )
    ]
  }

  func document(of segment: String) -> JSONValue {
    let damages = segments[segment] ?? []
    let count = { (problem: Problem) in
      JSONValue.integer(Int64(damages.count { $0.problem == problem }))
    }
    return [
      "missing": count(.missing), "changed": count(.changed), "replaced": count(.foreign),
      "first": .optional(damages.first?.path),
    ]
  }
}
