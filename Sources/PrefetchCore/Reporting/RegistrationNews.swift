package enum RegistrationNews: Hashable, Sendable {
  case ok(isFirst: Bool)
  /// Failed registration; `retryAt` is nil for a refusal, which time does not lift.
  case failed(ErrorCode, retryAt: Instant?)
  case lost(ErrorCode?)

  package var text: String {
    switch self {
    case .ok(true): "registration: the license was registered"
    case .ok(false): "registration: the license is registered"
    case .failed(let code, let retryAt):
      "registration: \(code.rawValue)"
        + (retryAt.map { ", next attempt after \(Timestamp.format($0))" } ?? "")
    case .lost(let code): "registration: lost" + (code.map { ", \($0.rawValue)" } ?? "")
    }
  }
}
