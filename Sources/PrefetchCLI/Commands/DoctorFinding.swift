import PrefetchCore

/// One line of `doctor`.
struct DoctorFinding: Hashable, Sendable {
  var name: String
  var value: String
  /// What a run would end with for it, or `failed` where a person should see to it and no run ends
  /// otherwise; nil where nothing is wrong.
  var trouble: ExitStatus?

  init(_ name: String, _ value: String, trouble: ExitStatus? = nil) {
    self.name = name
    self.value = value
    self.trouble = trouble
  }

  static func doubtful(_ name: String, _ value: String) -> Self {
    Self(name, value, trouble: .failed)
  }

  var isRight: Bool { trouble == nil }
}

extension [DoctorFinding] {
  /// What a run ends with that meets all of it, where it ends otherwise at all.
  var exit: ExitStatus {
    Self.order.first { status in contains { $0.trouble == status } } ?? .ok
  }

  private static let order: [ExitStatus] = [
    .usage, .config, .trust, .io, .denied, .unavailable, .failed, .deferred,
  ]
}
