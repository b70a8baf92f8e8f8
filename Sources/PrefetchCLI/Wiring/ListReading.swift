import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Lists that a command fetched; they replace the stored ones.
struct ReadLists: Sendable {
  fileprivate(set) var manifests: [String: Shared<Manifest>] = [:]
  fileprivate(set) var warnings: [Diagnostic] = []
  /// Exit status for an item that is in none of the lists.
  fileprivate(set) var status = ExitStatus.nothing

  var isWhole: Bool { warnings.isEmpty && status == .nothing }
}

/// Fetches lists to look up an unknown id, conditionally; they are judged as in a run, not stored.
struct ListReading {
  let session: ItemSession
  let builder: RequestBuilder
  var stop: any StopSignal = ProcessStop()

  private var context: CommandContext { session.context }
  private var loaded: LoadedConfiguration { session.loaded }

  func read() throws(CommandExit) -> ReadLists {
    var lists = ReadLists()
    let segments = builder.configuration.segments.map(builder.declaration).filter(\.isRemote)
    guard !segments.isEmpty else { return lists }
    var request = RunRequest(
      mode: .lists,
      identity: builder.identity,
      segments: segments,
      policy: builder.policy
    )
    request.bundleID = builder.configuration.bundleID
    let license = context.license(loaded, builder, session.locations)
    request.credentials = license.credentials
    request.unregisteredOrigin = license.withheld
    builder.applyNetwork(to: &request, publisher: builder.publisher?.network)
    let collector = ListCollector()
    let report = try run(request, collector)
    lists.manifests = collector.manifests
    for segment in report.segments {
      guard let failure = segment.manifest.failure else { continue }
      lists.warnings.append(Self.warning(of: segment.name, failure.message))
    }
    switch ExitStatus(report) {
    case .ok, .failed, .changes, .incomplete, .nothing, .notOurs, .usage, .config: break
    case .trust, .unavailable, .io, .deferred, .denied, .interrupted, .terminated:
      lists.status = ExitStatus(report)
    }
    return lists
  }

  private func run(
    _ request: RunRequest,
    _ collector: ListCollector
  ) throws(CommandExit) -> Report {
    let store: any ContentStore = try session.store() ?? AbsentStore(at: session.locations.cache)
    return try context.reading { () throws(Failure) in
      var reports: [Diagnostic] = []
      let path = session.locations.state
      let state = (try? StateStore.openForReading(state: path, reports: &reports)) ?? nil
      var run = EngineRun(
        context: context,
        builder: builder,
        store: store,
        bodies: session.locations.bodies,
        circumstances: MachineCircumstances(context: context, loaded: loaded) { state }
      )
      run.memory = session.hostMemory()
      run.stop = stop
      run.observers = [collector]
      run.isDry = true
      return try run.run(request)
    }
  }

  static func warning(of segment: String, _ message: String) -> Diagnostic {
    Diagnostic(
      "manifest.unreadable",
      "what segment `\(segment)` lists is not known: \(message)",
      severity: .warning,
      hint: "`prefetch run \(segment)` requests its manifest again"
    )
  }
}

private final class ListCollector: RunObserver {
  let needsEachFact = false
  private(set) var manifests: [String: Shared<Manifest>] = [:]

  func observe(_ fact: RunFact, at now: Moment) {
    if case .listRead(let segment, let manifest) = fact { manifests[segment] = manifest }
  }
}

extension SegmentDeclaration {
  var isRemote: Bool {
    if case .remote = source { true } else { false }
  }
}
