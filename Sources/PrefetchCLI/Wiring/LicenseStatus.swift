import PrefetchCore

/// Registration status of the license, with its effects on a run.
struct LicenseStatus {
  enum Word: String {
    case notRegistered = "not_registered"
    case registered
    case refused
  }

  var word = Word.notRegistered
  var credentials: Shared<OriginCredentials>?
  var withheld: WithheldOrigin?
  /// Failure that needs a person: a refusal, or an untrusted server.
  var failure: Failure?
  /// Failure of a renewal while the earlier registration is valid.
  var renewalFailure: Failure?
  var deferral: Deferral?
  var expires: Instant?
  var bundleID: String?
  var publisher: PublisherPolicy?
  var diagnostics: [Diagnostic] = []
  var requests: Int64 = 0
  var wireBytes: Int64 = 0
  var hasResponse = false

  static let none = LicenseStatus()

  private init() {}

  init(_ status: RegistrationRule.Status, of setup: LicenseSetup) {
    let origin = setup.url.origin
    switch status {
    case .registered(let grant):
      word = .registered
      expires = grant.expires
      bundleID = grant.bundleID
      publisher = PublisherPolicy(of: grant)
      credentials = Shared(OriginCredentials(bearer: grant.token ?? setup.key, to: origin))
    case .due:
      let deferral = Deferral(rule: .registration)
      withheld = WithheldOrigin(origin: origin, reason: .deferred(deferral))
      diagnostics = [
        Diagnostic(
          "registration.due",
          "the license is not registered yet, so no request is sent to `\(setup.url.authority)`",
          severity: .warning,
          hint: "`prefetch run` and `prefetch register` register it"
        )
      ]
    case .denied(let failure):
      word = .refused
      self.failure = failure
      withheld = WithheldOrigin(origin: origin, reason: .failed(failure))
      diagnostics = [Self.diagnostic(failure, severity: .error)]
    case .waiting(let until, let failure):
      let deferral = Deferral(rule: .registration, until: until)
      withheld = WithheldOrigin(origin: origin, reason: .deferred(deferral))
      if failure.code.category == .trust {
        self.failure = failure
      } else {
        self.deferral = deferral
      }
      diagnostics = [
        Self.diagnostic(
          failure,
          severity: failure.code.category == .trust ? .error : .warning,
          hint:
            "the next attempt is after \(Timestamp.format(until)); `prefetch register` tries at once"
        )
      ]
    }
  }

  init(forbidden failure: Failure, of setup: LicenseSetup) {
    self.failure = failure
    withheld = WithheldOrigin(origin: setup.url.origin, reason: .failed(failure))
    diagnostics = [Self.diagnostic(failure, severity: .error)]
  }

  func addResult(to report: inout Report) {
    report.registration = failure
    report.deferral = report.deferral ?? deferral
    report.diagnostics += diagnostics
    report.totals.requests += requests
    report.totals.bytesWire += wireBytes
    report.hasResponse = report.hasResponse || hasResponse
  }

  private static func diagnostic(
    _ failure: Failure,
    severity: Diagnostic.Severity,
    hint: String? = nil
  ) -> Diagnostic {
    Diagnostic(
      "registration.\(failure.code.rawValue)",
      "the license is not registered: \(failure.message)",
      severity: severity,
      hint: hint
    )
  }
}
