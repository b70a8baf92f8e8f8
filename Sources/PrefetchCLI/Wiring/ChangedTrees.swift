import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// Files of published trees that are not as they were published, by segment.
struct ChangedTrees {
  typealias Problem = TreeInspection.Damage.Problem

  private let segments: [String: [TreeInspection.Damage]]
  /// Trees of which no file is left.
  private let gone: [String: TreeInspection.Gone]
  /// Failures of the trees that could not be looked at.
  private let unread: [String: TreeInspection.Unread]

  init(
    _ state: StateStore,
    _ store: DiskStore?,
    declared: [SegmentKey: String]?,
    depth: TreeInspection.Depth
  ) throws(Failure) {
    self.init(
      try PublishedTrees.inspect(
        state,
        of: store,
        declared: declared,
        depth: depth,
        isCancelled: { StopSignals.pending != nil }
      )
    )
  }

  init(_ inspection: TreeInspection) {
    segments = Dictionary(grouping: inspection.bad, by: \.segment)
    gone = Dictionary(inspection.gone.map { ($0.segment, $0) }) { first, _ in first }
    unread = Dictionary(inspection.unread.map { ($0.segment, $0) }) { first, _ in first }
  }

  /// Problems of files, the words that count them, and the next step for each.
  private static let words: [(problem: Problem, word: String, step: String)] = [
    (.missing, "missing", "the next run publishes missing files again"),
    (
      .changed, "changed",
      "`prefetch verify --repair` drops changed files, and the next run makes them again"
    ),
    (.foreign, "replaced by another file", "move away what replaced a published file"),
    (.unreadable, "unreadable", "let their owner read the files, or delete them"),
  ]

  var names: [String] { Set(segments.keys).union(unread.keys).union(gone.keys).sorted() }

  /// Returns text such as `2 missing, 1 changed`; nil where the tree is as it was published.
  func summary(of segment: String) -> String? {
    guard unread[segment] == nil else { return "cannot be looked at" }
    if let gone = gone[segment] { return "all \(gone.count) missing" }
    let damages = segments[segment] ?? []
    return damages.isEmpty ? nil : Self.counts(damages)
  }

  private static func counts(_ damages: [TreeInspection.Damage]) -> String {
    words.compactMap { problem, word, _ in
      let count = damages.count { $0.problem == problem }
      return count > 0 ? "\(count) \(word)" : nil
    }.joined(separator: ", ")
  }

  /// Returns text such as "has lost all published files (2): `/disk` is empty" for such a tree.
  func loss(of segment: String) -> String? { gone[segment].map(Self.text) }

  private static func text(_ gone: TreeInspection.Gone) -> String {
    "has lost all published files (\(gone.count)): `\(gone.place.path)` \(gone.place.text)"
  }

  /// Returns warnings about files with one of these problems; nil means all problems.
  func warnings(of segment: String, _ problems: Set<Problem>? = nil) -> [Diagnostic] {
    let isWanted = { (problem: Problem) in problems?.contains(problem) ?? true }
    if let unread = unread[segment] { return [Self.diagnostic(of: unread, .warning)] }
    if let gone = gone[segment], isWanted(.missing) { return [Self.diagnostic(of: gone, .warning)] }
    let damages = (segments[segment] ?? []).filter { isWanted($0.problem) }
    guard let first = damages.first else { return [] }
    let steps = Self.words.filter { row in damages.contains { $0.problem == row.problem } }
    return [
      Diagnostic(
        "publish.differs",
        "files of segment `\(segment)` are not as published: \(Self.counts(damages)), "
          + "the first `\(first.path)`",
        severity: .warning,
        hint: steps.map(\.step).joined(separator: "; ")
      )
    ]
  }

  static func diagnostic(
    of gone: TreeInspection.Gone,
    _ severity: Diagnostic.Severity
  ) -> Diagnostic {
    var hint = "mount the disk if one belongs there; else the next run makes the files again"
    // All users may write as root.
    if let folder = gone.place.existing, !FileReading.isWritableFolder(folder) {
      hint += ", if its user may write into `\(folder)`"
    }
    return Diagnostic(
      "publish.gone",
      "segment `\(gone.segment)` \(text(gone))",
      severity: severity,
      hint: hint
    )
  }

  static func diagnostic(
    of unread: TreeInspection.Unread,
    _ severity: Diagnostic.Severity
  ) -> Diagnostic {
    let hint =
      switch unread.failure.code {
      case .permission: "let this user read the folder, or ask as the user of the runs"
      case .notFound: "name the folder of the state with `--state-dir`; a run begins a new state"
      default: "put the folder back, or correct the `dir` of its `publish`"
      }
    return Diagnostic(
      "publish.unread",
      "published files of segment `\(unread.segment)` cannot be looked at: "
        + unread.failure.message,
      severity: severity,
      hint: hint
    )
  }

  func missingCount(of segment: String) -> Int {
    (segments[segment] ?? []).count { $0.problem == .missing } + (gone[segment]?.count ?? 0)
  }

  func document(of segment: String) -> JSONValue {
    let damages = segments[segment] ?? []
    let count = { (problem: Problem) in
      JSONValue.integer(Int64(damages.count { $0.problem == problem }))
    }
    return [
      "missing": .integer(Int64(missingCount(of: segment))),
      "changed": count(.changed), "replaced": count(.foreign),
      "first": .optional(damages.first?.path ?? gone[segment]?.place.path),
      "unread": .optional(unread[segment]?.failure.message),
    ]
  }
}

extension CommandContext {
  /// Looks at every file of published trees, and reads none.
  func changedTrees(
    _ state: StateStore?,
    _ store: DiskStore?,
    _ presence: StorePresence,
    _ locations: CacheLocations,
    declared: [SegmentKey: String]?
  ) throws(Failure) -> ChangedTrees {
    if presence != .stateless, let state {
      return try ChangedTrees(state, store, declared: declared, depth: .status)
    }
    var inspection = TreeInspection()
    if presence == .stateless, let store {
      inspection.unread = try locations.unrecordedTrees(store, declared: declared)
    }
    return ChangedTrees(inspection)
  }
}
