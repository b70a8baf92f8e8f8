/// What is remembered of one license at one registration endpoint.
package struct RegistrationRecord: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    case registered
    /// The server does not know the license, or no more.
    case refused(status: Int)
    /// It belongs to another bundle than the configured one.
    case mismatched(bundleID: String)
    /// Anything else; time may heal it.
    case failed(Failure)
  }

  /// What the server granted.
  package struct Grant: Hashable, Sendable {
    /// Nil where the key itself is to be sent.
    package var token: Secret?
    package var expires: Instant?
    package var bundleID: String?
    /// The server's rules as it wrote them, one JSON object; they may only narrow ours.
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

  /// Of the last time that the server was asked.
  package var outcome: Outcome
  package var attemptedAt: Instant
  /// The server asked not to be asked before, in the answer to a request that failed.
  package var notBefore: Instant?
  /// How the machine was connected then.
  package var network: String?
  /// Outlives requests that fail, until it expires.
  package var grant: Grant?

  package init(outcome: Outcome, attemptedAt: Instant) {
    self.outcome = outcome
    self.attemptedAt = attemptedAt
  }
}

/// What came of asking the registration endpoint.
package enum RegistrationAnswer: Hashable, Sendable {
  case granted(RegistrationRecord.Grant)
  /// Another status than 200, and for how long the server wants to be left alone.
  case status(Int, retryAfter: Duration?)
  case failed(Failure)
}

/// When a license is registered, and what holds until then.
///
/// Once for every license: a grant lasts until it expires, a refusal until the key changes, and a
/// failure until the pause is over or the machine has another network.
package struct RegistrationRule: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case registered(RegistrationRecord.Grant)
    /// Never asked, or it is time to ask again.
    case due
    case denied(Failure)
    case waiting(until: Instant, Failure)
  }

  /// The pause after a failure.
  package var retry: Duration
  package var bundleID: String?
  package var network: String?
  /// No server is believed that wants to be left alone for longer.
  private static let longestPause: Duration = .seconds(86_400)

  package init(retry: Duration, bundleID: String? = nil, network: String? = nil) {
    self.retry = retry
    self.bundleID = bundleID
    self.network = network
  }

  package func standing(_ record: RegistrationRecord?, at now: Instant) -> Standing {
    guard let record else { return .due }
    switch record.outcome {
    case .refused(let status):
      return .denied(Self.refusal(status))
    case .mismatched(let granted):
      // The key is the same, but who asks with it is not: that may be asked about once more.
      guard let bundleID, bundleID != granted else { return .due }
      return .denied(Self.mismatch(granted, bundleID))
    case .registered:
      guard let grant = record.grant, grant.isValid(at: now) else { return .due }
      return standing(grant)
    case .failed(let failure):
      if let grant = record.grant, grant.isValid(at: now) { return standing(grant) }
      let end = pauseEnd(record)
      // A time in the future was noted by a clock that was wrong.
      guard record.attemptedAt <= now, now < end, record.network == network else { return .due }
      return .waiting(until: end, failure)
    }
  }

  /// What is remembered after an answer; `record` is what was remembered before.
  package func noting(
    _ answer: RegistrationAnswer,
    after record: RegistrationRecord?,
    at now: Instant
  ) -> RegistrationRecord {
    var next = RegistrationRecord(outcome: .registered, attemptedAt: now)
    next.network = network
    switch answer {
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

  /// When a failure has been waited for long enough.
  package func pauseEnd(_ record: RegistrationRecord) -> Instant {
    let end = record.attemptedAt + retry
    return record.notBefore.map { max(end, $0) } ?? end
  }

  private func standing(_ grant: RegistrationRecord.Grant) -> Standing {
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
