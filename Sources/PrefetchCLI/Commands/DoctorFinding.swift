import PrefetchCore

struct DoctorFinding: Hashable, Sendable {
  var name: String
  var value: String
  /// Exit status of a run that meets the problem; `failed` if runs work but a person should act.
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
  var exit: ExitStatus {
    Self.order.first { status in contains { $0.trouble == status } } ?? .ok
  }

  private static let order: [ExitStatus] = [
    .usage, .config, .trust, .io, .denied, .unavailable, .nothing, .incomplete, .failed, .deferred,
  ]
}
