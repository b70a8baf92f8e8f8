import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Registers the license before any other request.
struct Registrar {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let builder: RequestBuilder

  /// Returns the remembered status, without a request, for a command that may not write.
  func remembered(_ state: StateStore?) throws(Failure) -> LicenseStanding {
    guard let setup = LicenseSetup(loaded) else { return .none }
    if let forbidden = forbidden(setup) { return forbidden }
    let record = try state?.registration(setup.stateKey)
    return standing(record, setup)
  }

  /// Registers if due and not held back, or in any case if `isForced`.
  func settle(
    _ state: StateStore,
    segments: [String],
    isForced: Bool = false,
    isHeldBack: () throws(Failure) -> Bool = { false },
    announce: (RegistrationNews) -> Void
  ) throws(Failure) -> LicenseStanding {
    guard let setup = LicenseSetup(loaded) else { return .none }
    if let forbidden = forbidden(setup) {
      announce(.failed(forbidden.failure?.code ?? .failed, retryAt: nil))
      return forbidden
    }
    let record = try state.registration(setup.stateKey)
    let before = setup.rule.standing(record, at: now)
    guard isForced || before == .due else {
      if case .registered = before { announce(.ok(isFirst: false)) }
      return standing(record, setup)
    }
    if !isForced, try isHeldBack() { return standing(record, setup) }
    let call = RegistrationCall(
      setup: setup,
      segments: segments,
      policy: builder.policy,
      settings: builder.transportSettings(),
      clock: context.clock
    )
    // The run that follows notices the interruption as well.
    guard let outcome = try call.perform() else { return standing(record, setup) }
    // Another process may have registered the license meanwhile.
    var latest: RegistrationRecord?
    let next = try state.updateRegistration(setup.stateKey) { record in
      latest = record
      return setup.rule.noting(outcome.answer, after: record, at: now)
    }
    tell(next, after: latest, setup, announce)
    var standing = standing(next, setup)
    standing.requests = outcome.requests
    standing.wireBytes = outcome.wireBytes
    standing.hasAnswer = outcome.hasAnswer
    return standing
  }

  private var now: Instant {
    context.clock.now().wall
  }

  private func forbidden(_ setup: LicenseSetup) -> LicenseStanding? {
    RegistrationCall.objection(to: setup.url, builder.policy, at: now)
      .map { LicenseStanding(forbidden: $0, of: setup) }
  }

  /// Returns the status, and masks the token like the key.
  private func standing(_ record: RegistrationRecord?, _ setup: LicenseSetup) -> LicenseStanding {
    if let token = record?.grant?.token?.value, !context.console.secrets.contains(token) {
      context.console.secrets.append(token)
    }
    var standing = LicenseStanding(setup.rule.standing(record, at: now), of: setup)
    if standing.word == .registered, case .failed(let failure)? = record?.outcome {
      standing.renewalFailure = failure
    }
    return standing
  }

  private func tell(
    _ next: RegistrationRecord,
    after record: RegistrationRecord?,
    _ setup: LicenseSetup,
    _ announce: (RegistrationNews) -> Void
  ) {
    switch next.outcome {
    case .registered: announce(.ok(isFirst: record?.grant == nil))
    case .refused: announce(.failed(.licenseRefused, retryAt: nil))
    case .mismatched: announce(.failed(.bundleMismatch, retryAt: nil))
    case .failed(let failure):
      announce(.failed(failure.code, retryAt: setup.rule.pauseEnd(next)))
    }
    guard record?.grant != nil, next.grant == nil else { return }
    let code: ErrorCode? =
      switch next.outcome {
      case .registered: nil
      case .refused: .licenseRefused
      case .mismatched: .bundleMismatch
      case .failed(let failure): failure.code
      }
    announce(.lost(code))
  }
}
