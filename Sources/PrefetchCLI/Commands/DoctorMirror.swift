import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Checks of `doctor` for the mirror whose cache `--cache-dir` names: its last run and its files.
struct DoctorMirror {
  let context: CommandContext
  let locations: CacheLocations

  var findings: [DoctorFinding] {
    guard context.shared.mayNameMirror else { return [] }
    guard FileReading.exists(locations.cache) else {
      let text =
        "`\(locations.cache)` is missing; mount the disk if one belongs there, else mirror again"
      return [DoctorFinding(Self.name, text, trouble: .io)]
    }
    var reports: [Diagnostic] = []
    // `DoctorRules` reports a state that cannot be read.
    guard
      let state =
        (try? StateStore.openForReading(state: locations.state, reports: &reports)) ?? nil
    else {
      return [.doubtful(Self.name, "its last run is unknown; \(locations.doubtWithoutState)")]
    }
    do throws(Failure) {
      return try runs(state) + trees(state)
    } catch {
      return [DoctorFinding(Self.name, error.message, trouble: .io)]
    }
  }

  private static let name = "mirror"

  /// Reports the last run of each mirror; several may share a cache.
  private func runs(_ state: StateStore) throws(Failure) -> [DoctorFinding] {
    var last: [String: RunRecord] = [:]
    for run in try state.runs(of: nil) where MirrorRules.isIdentity(run.identity) {
      last[run.identity] = run
    }
    guard !last.isEmpty else { return [.doubtful(Self.name, "no run of it has ended yet")] }
    let outcomes = try state.outcomes(of: nil)
    return last.sorted { $0.key < $1.key }.map { identity, run in
      finding(
        run,
        reason: outcomes[SegmentKey(identity: identity, name: MirrorRules.segment)]?.reason
      )
    }
  }

  private func finding(_ run: RunRecord, reason: String?) -> DoctorFinding {
    let folder = run.identity.dropFirst(MirrorRules.segment.utf8.count + 1)
    let age = Amounts.duration(context.clock.now().wall - run.finished)
    var text = folder.isEmpty ? "" : "\(folder): "
    text += "its last run ended \(age) ago, at \(Timestamp.format(run.finished)), with "
    text += "\(run.exitCode) (`\(run.exitName)`)"
    let status = ExitStatus(rawValue: Int32(clamping: run.exitCode)) ?? .failed
    switch status {
    case .ok, .changes: return DoctorFinding(Self.name, text)
    case .deferred:
      let cause = reason.map { ": \($0)" } ?? ""
      return DoctorFinding(Self.name, "\(text)\(cause); a later run continues")
    case .interrupted, .terminated:
      return .doubtful(Self.name, "\(text); mirror again to finish it")
    default:
      let cause = reason.map { ": \($0)" } ?? ""
      return DoctorFinding(
        Self.name,
        "\(text)\(cause); mirror again, which shows what fails",
        trouble: status
      )
    }
  }

  private func trees(_ state: StateStore) throws(Failure) -> [DoctorFinding] {
    let store =
      try DiskStore.openForReading(cache: locations.cache, clockStart: context.clock.now().wall)
    let inspection = try PublishedTrees.inspect(
      state,
      of: store,
      declared: nil,
      depth: .status,
      isCancelled: { StopSignals.pending != nil }
    )
    let lost = inspection.gone.map { gone in
      Self.finding(ChangedTrees.diagnostic(of: gone, .error), trouble: .io)
    }
    var rest = inspection
    rest.gone = []
    let changed = ChangedTrees(rest)
    return lost
      + changed.names.flatMap { changed.warnings(of: $0) }.map {
        Self.finding($0, trouble: .failed)
      }
  }

  private static func finding(_ diagnostic: Diagnostic, trouble: ExitStatus) -> DoctorFinding {
    let step = diagnostic.hint.map { "; \($0)" } ?? ""
    return DoctorFinding(name, diagnostic.message + step, trouble: trouble)
  }
}
