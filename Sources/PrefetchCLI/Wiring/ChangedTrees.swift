import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// Files of published trees that are not as they were published, by segment.
struct ChangedTrees {
  typealias Problem = TreeInspection.Damage.Problem

  let segments: [String: [TreeInspection.Damage]]
  /// Failures of the trees that could not be looked at.
  private let unread: [String: TreeInspection.Unread]

  init(
    _ state: StateStore?,
    _ store: DiskStore?,
    declared: [SegmentKey: String]?,
    depth: TreeInspection.Depth
  ) throws(Failure) {
    var inspection = TreeInspection()
    if let state {
      inspection = try PublishedTrees.inspect(
        state,
        of: store,
        declared: declared,
        depth: depth,
        isCancelled: { StopSignals.pending != nil }
      )
    }
    segments = Dictionary(grouping: inspection.bad, by: \.segment)
    unread = Dictionary(inspection.unread.map { ($0.segment, $0) }) { first, _ in first }
  }

  private static let words: [(Problem, String)] = [
    (.missing, "missing"), (.changed, "changed"), (.foreign, "replaced by another file"),
  ]

  var names: [String] { Set(segments.keys).union(unread.keys).sorted() }

  /// Returns text such as `2 missing, 1 changed`; nil where the tree is as it was published.
  func summary(of segment: String) -> String? {
    unread[segment] == nil ? Self.counts(segments[segment] ?? []) : "cannot be looked at"
  }

  private static func counts(_ damages: [TreeInspection.Damage]) -> String? {
    guard !damages.isEmpty else { return nil }
    return words.compactMap { problem, word in
      let count = damages.count { $0.problem == problem }
      return count > 0 ? "\(count) \(word)" : nil
    }.joined(separator: ", ")
  }

  func missingCount(of segment: String) -> Int {
    (segments[segment] ?? []).count { $0.problem == .missing }
  }

  /// Returns warnings about files with one of these problems; nil means all problems.
  func warnings(of segment: String, _ problems: Set<Problem>? = nil) -> [Diagnostic] {
    if let unread = unread[segment] { return [Self.diagnostic(of: unread, .warning)] }
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

  static func diagnostic(
    of unread: TreeInspection.Unread,
    _ severity: Diagnostic.Severity
  ) -> Diagnostic {
    Diagnostic(
      "publish.unread",
      "published files of segment `\(unread.segment)` cannot be looked at: "
        + unread.failure.message,
      severity: severity,
      hint: unread.failure.code == .permission
        ? "let this user read the folder, or ask as the user of the runs"
        : "put the folder back, or correct the `dir` of its `publish`"
    )
  }

  func document(of segment: String) -> JSONValue {
    let damages = segments[segment] ?? []
    let count = { (problem: Problem) in
      JSONValue.integer(Int64(damages.count { $0.problem == problem }))
    }
    return [
      "missing": count(.missing), "changed": count(.changed), "replaced": count(.foreign),
      "first": .optional(damages.first?.path),
      "unread": .optional(unread[segment]?.failure.message),
    ]
  }
}

extension CommandContext {
  /// Looks at every file of published trees, and reads none.
  func changedTrees(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> ChangedTrees {
    let state = try readingState(locations)
    return try reading { () throws(Failure) in
      guard !loaded.files.isEmpty else {
        return try ChangedTrees(state, store, declared: nil, depth: .status)
      }
      let joined = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: locations.cache,
        mayWrite: false
      )
      let folders = PublishingSetup.folders(loaded, joined)
      return try ChangedTrees(state, store, declared: folders, depth: .status)
    }
  }
}
