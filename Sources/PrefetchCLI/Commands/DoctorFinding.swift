import PrefetchCore

/// One line of `doctor`.
struct DoctorFinding: Hashable, Sendable {
  var name: String
  var value: String
  /// What a run would end with for it; nil where it ends as if that were not.
  var trouble: ExitStatus?
  /// Whether a person should see to it, though no run ends otherwise.
  var isDoubtful = false

  init(_ name: String, _ value: String, trouble: ExitStatus? = nil) {
    self.name = name
    self.value = value
    self.trouble = trouble
  }

  static func doubtful(_ name: String, _ value: String) -> Self {
    var finding = Self(name, value)
    finding.isDoubtful = true
    return finding
  }

  var isRight: Bool {
    trouble == nil && !isDoubtful
  }
}

extension [DoctorFinding] {
  /// What a run ends with that meets all of it.
  var exit: ExitStatus {
    Self.order.first { status in contains { $0.trouble == status } } ?? .ok
  }

  private static let order: [ExitStatus] = [
    .usage, .config, .trust, .io, .denied, .unavailable, .failed, .deferred,
  ]
}
