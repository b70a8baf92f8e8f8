import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// Facts about hosts that runs remember.
struct HostMemory {
  var gates: [HostGate] = []
  var lessons: [ProtocolLesson: Set<String>] = [:]
  /// Download rates in bytes a second, by host.
  var rates: [String: Int64] = [:]

  static let none = HostMemory()

  private init() {}

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

  func apply(to settings: inout TransportSettings) {
    settings.lessons = lessons
  }

  /// Whether a run learnt facts that justify opening the state.
  static func hasNews(_ report: Report) -> Bool {
    !report.gates.isEmpty || !report.lessons.isEmpty || !report.paces.isEmpty
  }

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

  /// Hash of the configuration, with which routes to hosts may change.
  private static func fingerprint(_ loaded: LoadedConfiguration) -> UInt64 {
    var hash = StableHash()
    hash.combine(JSONWriter.string(loaded.declared))
    return hash.value
  }
}
