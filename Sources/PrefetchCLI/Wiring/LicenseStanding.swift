import PrefetchCore

/// What a run may do under its license, and what it has to tell of it.
struct LicenseStanding {
  enum Word: String {
    case notRegistered = "not_registered"
    case registered
    case refused
  }

  var word = Word.notRegistered
  var credentials: Shared<OriginCredentials>?
  var withheld: WithheldOrigin?
  /// What only a person can mend: a refusal, or a server that may not be trusted.
  var failure: Failure?
  /// Why the license could not be registered anew, where an earlier registration still holds.
  var renewalFailure: Failure?
  /// What time alone will lift.
  var deferral: Deferral?
  var expires: Instant?
  var bundleID: String?
  var publisher: PublisherPolicy?
  var diagnostics: [Diagnostic] = []
  /// Requests that were sent to the endpoint in this run.
  var requests: Int64 = 0
  var wireBytes: Int64 = 0
  /// Whether it said anything but "not now".
  var hasAnswer = false

  /// Without a license nothing is held back.
  static let none = LicenseStanding()

  private init() {}

  init(_ standing: RegistrationRule.Standing, of setup: LicenseSetup) {
    let origin = setup.url.origin
    switch standing {
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

  /// A way to the endpoint that the license may not take.
  init(forbidden failure: Failure, of setup: LicenseSetup) {
    self.failure = failure
    withheld = WithheldOrigin(origin: setup.url.origin, reason: .failed(failure))
    diagnostics = [Self.diagnostic(failure, severity: .error)]
  }

  /// Puts it into a report of what was done under it.
  func note(in report: inout Report) {
    report.registration = failure
    report.deferral = report.deferral ?? deferral
    report.diagnostics += diagnostics
    report.totals.requests += requests
    report.totals.bytesWire += wireBytes
    report.hasAnswer = report.hasAnswer || hasAnswer
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
