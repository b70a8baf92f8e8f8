import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Presence of cache and state, as a reading command finds them.
enum StorePresence: Hashable {
  case whole
  /// There is no cache, and nothing says that there was one.
  case unused
  /// There is no cache, and the runs that the state knows belong to other configurations.
  case elsewhere
  /// There is no cache where the user, or the history of runs, says that there is one.
  case lost
  /// The state that the runs of the cache have written is missing, damaged or another cache's.
  case stateless

  var hasCache: Bool { self == .whole || self == .stateless }
}

extension CommandContext {
  /// Returns what is there; a command that needs no state, with `readsState`, opens none.
  func presence(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?,
    readsState: Bool = true
  ) throws(CommandExit) -> StorePresence {
    guard readsState || store == nil else { return .whole }
    let state = try readingState(locations)
    return try reading { () throws(Failure) in
      guard let store else {
        if shared.cacheDirectory != nil { return .lost }
        if !loaded.files.isEmpty, try state?.hasRuns(of: loaded.identity) == true { return .lost }
        return try state?.hasRuns(of: nil) == true ? .elsewhere : .unused
      }
      guard try store.isOfRuns(isShared: locations.isShared), !hasPrivateState(locations) else {
        return .whole
      }
      guard let state else { return .stateless }
      // A state of other configurations knows nothing of this cache, nor of a first run's success.
      var own = Set(
        try store.segments().filter { $0.lastSuccess != nil }.map(\.key.identity)
      )
      if !loaded.files.isEmpty { own.formIntersection([loaded.identity]) }
      for identity in own where try state.knows(identity) { return .whole }
      return own.isEmpty ? .whole : .stateless
    }
  }

  /// Says what is missing where a command has less to show than the user expects.
  func report(_ presence: StorePresence, _ locations: CacheLocations) {
    switch presence {
    case .whole: break
    case .unused: console.note("nothing has run yet: \(locations.missingCache)")
    case .elsewhere: console.note(locations.missingCache)
    case .lost: console.report(locations.lossOfCache(.warning))
    case .stateless:
      // A damaged state was reported when it was opened.
      guard !locations.hasStateFile || (try? readingState(locations)) != nil else { break }
      console.reportNow(
        Diagnostic(
          "state.missing",
          locations.doubtWithoutState,
          severity: .warning,
          hint: "name its folder with `--state-dir`, or mount the disk if one belongs there; "
            + "the next run begins a new state"
        )
      )
    }
  }
}

extension CacheLocations {
  var missingCache: String { "there is no cache at `\(cache)`" }

  fileprivate var hasStateFile: Bool { FileReading.exists("\(state)/state.sqlite") }

  private var missingState: String {
    hasStateFile
      ? "the state at `\(state)` is damaged, or another cache's"
      : "there is no state of the cache at `\(state)`"
  }

  var doubtWithoutState: String {
    "\(missingState): past runs, their failures and published files are not known"
  }

  /// Returns the trees that runs may have published, and whose files only the state records.
  func unrecordedTrees(
    _ store: DiskStore,
    declared: [SegmentKey: String]?
  ) throws(Failure) -> [TreeInspection.Unread] {
    try store.segments().map(\.key).filter { key in
      declared.map { $0[key] != nil } ?? (key.name == MirrorFolder.segment)
    }.map { TreeInspection.Unread(segment: $0.name, failure: Failure(.notFound, missingState)) }
  }

  func lossOfCache(_ severity: Diagnostic.Severity) -> Diagnostic {
    Diagnostic(
      "store.missing",
      missingCache,
      severity: severity,
      hint: "correct the folder, or mount the disk if one belongs there; a run makes a new cache"
    )
  }
}
