import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// What earlier runs learnt of hosts and later ones have to know.
struct HostMemory {
  var gates: [HostGate] = []
  var lessons: [ProtocolLesson: Set<String>] = [:]
  /// Bytes a second.
  var rates: [String: Int64] = [:]

  static let none = HostMemory()

  private init() {}

  /// Without a state nothing is known.
  init(
    _ state: StateStore?,
    of loaded: LoadedConfiguration,
    at now: Instant
  ) throws(Failure) {
    guard let state else { return }
    gates = try state.hostGates(at: now)
    rates = try state.hostPaces(at: now).mapValues(\.rate)
    guard try state.hasProtocolLessons else { return }
    lessons = try state.protocolLessons(configuration: Self.fingerprint(loaded), at: now)
  }

  /// What transfers have to know of it; the gates are for the engine.
  func apply(to settings: inout TransportSettings) {
    settings.lessons = lessons
  }

  /// Whether a run has learnt anything that is worth opening the state for.
  static func hasNews(_ report: Report) -> Bool {
    !report.gates.isEmpty || !report.lessons.isEmpty || !report.paces.isEmpty
  }

  /// Keeps what a run has learnt.
  static func remember(
    _ report: Report,
    of loaded: LoadedConfiguration,
    in state: StateStore
  ) throws(Failure) {
    try state.recordHostGates(report.gates, at: report.finished)
    try state.recordHostPaces(report.paces, at: report.finished)
    guard !report.lessons.isEmpty else { return }
    try state.record(
      report.lessons,
      configuration: fingerprint(loaded),
      at: report.finished
    )
  }

  /// A change of the configuration may have changed the way to a host.
  private static func fingerprint(_ loaded: LoadedConfiguration) -> UInt64 {
    var hash = StableHash()
    hash.combine(JSONWriter.string(loaded.canonical))
    return hash.value
  }
}
