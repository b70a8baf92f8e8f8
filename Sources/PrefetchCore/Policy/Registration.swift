/// Record of one license at one registration endpoint.
package struct RegistrationRecord: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    case registered
    /// The server does not know the license, or no longer.
    case refused(status: Int)
    /// The license belongs to another bundle than the configured one.
    case mismatched(bundleID: String)
    case failed(Failure)
  }

  package struct Grant: Hashable, Sendable {
    /// Token to send; nil if the key itself is to be sent.
    package var token: Secret?
    package var expires: Instant?
    package var bundleID: String?
    /// Server's rules in its own words, one JSON object; they can only narrow the configuration.
    package var policy: String?
    package var since: Instant

    package init(
      token: Secret? = nil,
      expires: Instant? = nil,
      bundleID: String? = nil,
      policy: String? = nil,
      since: Instant
    ) {
      self.token = token
      self.expires = expires
      self.bundleID = bundleID
      self.policy = policy
      self.since = since
    }

    package func isValid(at now: Instant) -> Bool {
      expires.map { now < $0 } ?? true
    }
  }

  package var outcome: Outcome
  package var attemptedAt: Instant
  /// Time before which the server wants no request, from the response to a failed one.
  package var notBefore: Instant?
  package var network: String?
  /// Grant, which outlives failed requests until it expires.
  package var grant: Grant?

  package init(outcome: Outcome, attemptedAt: Instant) {
    self.outcome = outcome
    self.attemptedAt = attemptedAt
  }
}

package enum RegistrationResponse: Hashable, Sendable {
  case granted(RegistrationRecord.Grant)
  case status(Int, retryAfter: Duration?)
  case failed(Failure)
}

/// Rule for a license's next request: a grant's end, another key, a pause's end, a new network.
package struct RegistrationRule: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case registered(RegistrationRecord.Grant)
    case due
    case denied(Failure)
    case waiting(until: Instant, Failure)
  }

  package var retry: Duration
  package var bundleID: String?
  package var network: String?
  private static let longestPause: Duration = .seconds(86_400)

  package init(retry: Duration, bundleID: String? = nil, network: String? = nil) {
    self.retry = retry
    self.bundleID = bundleID
    self.network = network
  }

  package func status(of record: RegistrationRecord?, at now: Instant) -> Status {
    guard let record else { return .due }
    switch record.outcome {
    case .refused(let status):
      return .denied(Self.refusal(status))
    case .mismatched(let granted):
      // The configuration no longer contradicts the granted bundle: the server may be asked again.
      guard let bundleID, bundleID != granted else { return .due }
      return .denied(Self.mismatch(granted, bundleID))
    case .registered:
      guard let grant = record.grant, grant.isValid(at: now) else { return .due }
      return status(of: grant)
    case .failed(let failure):
      if let grant = record.grant, grant.isValid(at: now) { return status(of: grant) }
      let end = pauseEnd(record)
      // A time in the future was recorded by a wrong clock.
      guard record.attemptedAt <= now, now < end, record.network == network else { return .due }
      return .waiting(until: end, failure)
    }
  }

  package func nextRecord(
    for response: RegistrationResponse,
    after record: RegistrationRecord?,
    at now: Instant
  ) -> RegistrationRecord {
    var next = RegistrationRecord(outcome: .registered, attemptedAt: now)
    next.network = network
    switch response {
    case .granted(let grant):
      if let bundleID, let granted = grant.bundleID, granted != bundleID {
        next.outcome = .mismatched(bundleID: granted)
      } else {
        next.grant = grant
      }
    case .status(let status, _) where status == 401 || status == 403:
      next.outcome = .refused(status: status)
    case .status(let status, let retryAfter):
      next.outcome = .failed(Self.failure(status))
      next.notBefore = retryAfter.map { now + min($0, Self.longestPause) }
      next.grant = record?.grant.flatMap { $0.isValid(at: now) ? $0 : nil }
    case .failed(let failure):
      next.outcome = .failed(failure)
      next.grant = record?.grant.flatMap { $0.isValid(at: now) ? $0 : nil }
    }
    return next
  }

  package func pauseEnd(_ record: RegistrationRecord) -> Instant {
    let end = record.attemptedAt + retry
    return record.notBefore.map { max(end, $0) } ?? end
  }

  private func status(of grant: RegistrationRecord.Grant) -> Status {
    guard let bundleID, let granted = grant.bundleID, granted != bundleID else {
      return .registered(grant)
    }
    return .denied(Self.mismatch(granted, bundleID))
  }

  // MARK: Words

  private static func refusal(_ status: Int) -> Failure {
    Failure(
      .licenseRefused,
      "the registration server answered \(status) to the license; no run tries again before "
        + "the license changes; `prefetch register` does"
    )
  }

  private static func mismatch(_ granted: String, _ configured: String) -> Failure {
    Failure(
      .bundleMismatch,
      "the license belongs to the bundle `\(granted)`, and `bundle_id` is `\(configured)`"
    )
  }

  private static func failure(_ status: Int) -> Failure {
    RetryPolicy.isBusy(status) || status >= 500
      ? Failure(.serverBusy, "the registration server answered \(status)", isTransient: true)
      : Failure(.http, "the registration server answered \(status)")
  }
}
