import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

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

  func missingCount(of segment: String) -> Int {
    (segments[segment] ?? []).count { $0.problem == .missing }
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

extension CommandContext {
  /// Looks at the folders of published trees, and at the files of folders that have changed.
  func changedTrees(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> ChangedTrees {
    guard let state = try readingState(locations) else { return ChangedTrees() }
    let folders = try reading { () throws(Failure) -> [SegmentKey: String]? in
      guard !loaded.files.isEmpty else { return nil }
      let joined = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: locations.cache,
        mayWrite: false
      )
      return PublishingSetup.folders(loaded, joined)
    }
    do throws(Failure) {
      return ChangedTrees(
        try PublishedTrees.inspect(
          state,
          of: store,
          declared: folders,
          depth: .status,
          isCancelled: { StopSignals.pending != nil }
        )
      )
    } catch {
      // Another user's folder, say, is no reason to have no status.
      console.report(
        Diagnostic(
          "publish.unread",
          "published files cannot be checked: \(error.message)",
          severity: .warning,
          hint: "run `prefetch status` as the user who runs prefetch"
        )
      )
      return ChangedTrees()
    }
  }
}
