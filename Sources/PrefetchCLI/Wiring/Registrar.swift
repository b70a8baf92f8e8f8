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
  func remembered(_ state: StateStore?) throws(Failure) -> LicenseStatus {
    guard let setup = LicenseSetup(loaded) else { return .none }
    if let forbidden = forbidden(setup) { return forbidden }
    let record = try state?.registration(setup.stateKey)
    return licenseStatus(record, setup)
  }

  /// Registers if due and not held back, or in any case if `isForced`.
  func settle(
    _ state: StateStore,
    segments: [String],
    isForced: Bool = false,
    isDeferred: () throws(Failure) -> Bool = { false },
    announce: (RegistrationNews) -> Void
  ) throws(Failure) -> LicenseStatus {
    guard let setup = LicenseSetup(loaded) else { return .none }
    if let forbidden = forbidden(setup) {
      announce(.failed(forbidden.failure?.code ?? .failed, retryAt: nil))
      return forbidden
    }
    let record = try state.registration(setup.stateKey)
    let before = setup.rule.status(of: record, at: now)
    guard isForced || before == .due else {
      if case .registered = before { announce(.ok(isFirst: false)) }
      return licenseStatus(record, setup)
    }
    if !isForced, try isDeferred() { return licenseStatus(record, setup) }
    let call = RegistrationCall(
      setup: setup,
      segments: segments,
      policy: builder.policy,
      settings: builder.transportSettings(),
      clock: context.clock
    )
    // The run that follows notices the interruption as well.
    guard let outcome = try call.perform() else { return licenseStatus(record, setup) }
    // Another process may have registered the license meanwhile.
    var latest: RegistrationRecord?
    let next = try state.updateRegistration(setup.stateKey) { record in
      latest = record
      return setup.rule.nextRecord(for: outcome.response, after: record, at: now)
    }
    announceChange(next, after: latest, setup, announce)
    var status = licenseStatus(next, setup)
    status.requests = outcome.requests
    status.wireBytes = outcome.wireBytes
    status.hasResponse = outcome.hasResponse
    return status
  }

  private var now: Instant {
    context.clock.now().wall
  }

  private func forbidden(_ setup: LicenseSetup) -> LicenseStatus? {
    RegistrationCall.objection(to: setup.url, builder.policy, at: now)
      .map { LicenseStatus(forbidden: $0, of: setup) }
  }

  /// Returns the status, and masks the token like the key.
  private func licenseStatus(_ record: RegistrationRecord?, _ setup: LicenseSetup) -> LicenseStatus
  {
    if let token = record?.grant?.token?.value, !context.console.secrets.contains(token) {
      context.console.secrets.append(token)
    }
    var status = LicenseStatus(setup.rule.status(of: record, at: now), of: setup)
    if status.word == .registered, case .failed(let failure)? = record?.outcome {
      status.renewalFailure = failure
    }
    return status
  }

  private func announceChange(
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
