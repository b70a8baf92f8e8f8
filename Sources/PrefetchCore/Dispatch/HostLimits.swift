/// Decides from responses when each host may be asked again; stores only hosts with trouble.
package struct HostLimits: Sendable {
  package enum Verdict: Hashable, Sendable {
    case open
    case wait(until: Duration)
    case deferred(Deferral)
    /// The host is unreachable, so no other item is tried there.
    case failed(Failure)
  }

  /// A host's demanded pause, as stored between runs.
  package struct Gate: Hashable, Sendable {
    package var host: HostID
    package var until: Instant
  }

  private struct Pause: Hashable, Sendable {
    var until: Moment
    /// Fixed when the pause begins, so that all items of the host are treated alike.
    var isBeyondRun: Bool
  }

  private enum Breaker: Hashable, Sendable {
    case closed(failures: Int)
    /// Open until the pause ends; then one request at a time may try.
    case open(Pause, length: Duration)
  }

  private struct Trouble: Hashable, Sendable {
    var gate: Pause?
    var unreachable: Failure?
    var breaker = Breaker.closed(failures: 0)
  }

  /// Items in a row with broken transfers that open the breaker.
  package static let failuresInARow = 5
  private static let firstPause: Duration = .seconds(60)
  private static let longestPause: Duration = .seconds(300)

  private var troubles: [HostID: Trouble] = [:]
  private let maximumWait: Duration
  private let deadline: Duration?

  package init(
    retries: RetryPolicy,
    deadline: Duration? = nil,
    remembered: [Gate] = [],
    now: Moment
  ) {
    maximumWait = retries.wait
    self.deadline = deadline
    for gate in remembered {
      shut(gate.host, for: gate.until - now.wall, now: now)
    }
  }

  // MARK: Facts

  package mutating func recordResponse(
    _ host: HostID,
    status: Int,
    retryAfter: String?,
    now: Moment
  ) {
    guard RetryPolicy.isBusy(status) else { return succeed(host) }
    if let demanded = RetryAfter.pause(retryAfter, now: now.wall) {
      shut(host, for: demanded, now: now)
    }
  }

  /// Records a response that refuses all requests to the host for a time.
  package mutating func recordRateLimit(_ host: HostID, _ pause: Duration, now: Moment) {
    shut(host, for: pause, now: now)
  }

  /// Records a request without response, `isExhausted` if not retried; returns a new pause's end.
  ///
  /// The retries of an item count once; a host that stays busy counts too (`server_busy`).
  @discardableResult
  package mutating func recordFailure(
    _ host: HostID,
    _ failure: Failure,
    isExhausted: Bool,
    now: Moment
  ) -> Instant? {
    // A cancellation says nothing about the host.
    guard failure.code != .cancelled else { return nil }
    guard failure.code.category == .connectivity else {
      // After any other failure it is clear that a server answered.
      succeed(host)
      return nil
    }
    guard isExhausted else { return nil }
    guard failure.code == .connect || failure.code == .dns else {
      return countBrokenItem(host, now: now)
    }
    let message = "\(failure.message); its host is not tried again in this run"
    troubles[host, default: Trouble()].unreachable =
      Failure(failure.code, message, isTransient: failure.isTransient)
    return nil
  }

  // MARK: Answers

  package func verdict(_ host: HostID, now: Moment) -> Verdict {
    guard let trouble = troubles[host] else { return .open }
    if let failure = trouble.unreachable { return .failed(failure) }
    if let gate = trouble.gate, now.uptime < gate.until.uptime {
      return verdict(gate, rule: .retryAfter)
    }
    if case .open(let pause, _) = trouble.breaker, now.uptime < pause.until.uptime {
      return verdict(pause, rule: .breaker)
    }
    return .open
  }

  /// Returns the limit of requests in flight; nil for none, 1 after a row of broken transfers.
  package func limit(of host: HostID) -> Int? {
    guard let trouble = troubles[host], case .open = trouble.breaker else { return nil }
    return 1
  }

  package func gates(now: Moment) -> [Gate] {
    troubles.compactMap { host, trouble in
      guard let gate = trouble.gate, now.uptime < gate.until.uptime else { return nil }
      return Gate(host: host, until: gate.until.wall)
    }
    .sorted { $0.host < $1.host }
  }

  // MARK: Rules

  private func verdict(_ pause: Pause, rule: Deferral.Rule) -> Verdict {
    pause.isBeyondRun
      ? .deferred(Deferral(rule: rule, until: pause.until.wall))
      : .wait(until: pause.until.uptime)
  }

  private func pause(_ length: Duration, now: Moment) -> Pause {
    let until = Moment(wall: now.wall + length, uptime: now.uptime + length)
    let isTooLate = deadline.map { until.uptime >= $0 } ?? false
    return Pause(until: until, isBeyondRun: length > maximumWait || isTooLate)
  }

  private mutating func shut(_ host: HostID, for demanded: Duration, now: Moment) {
    guard demanded > .zero else { return }
    let gate = pause(min(demanded, RetryAfter.longest), now: now)
    if let known = troubles[host]?.gate, known.until.uptime >= gate.until.uptime { return }
    troubles[host, default: Trouble()].gate = gate
  }

  private mutating func succeed(_ host: HostID) {
    guard let trouble = troubles[host] else { return }
    // A host that answers is reachable again, perhaps at another address.
    troubles[host] = trouble.gate.map { Trouble(gate: $0) }
  }

  private mutating func countBrokenItem(_ host: HostID, now: Moment) -> Instant? {
    switch troubles[host, default: Trouble()].breaker {
    case .closed(let failures) where failures + 1 < Self.failuresInARow:
      troubles[host, default: Trouble()].breaker = .closed(failures: failures + 1)
      return nil
    case .closed:
      return open(host, for: Self.firstPause, now: now)
    case .open(let over, let length):
      // Requests that were in flight when the breaker opened add nothing.
      guard over.until.uptime <= now.uptime else { return nil }
      return open(host, for: min(length * 2, Self.longestPause), now: now)
    }
  }

  private mutating func open(_ host: HostID, for length: Duration, now: Moment) -> Instant {
    let pause = pause(length, now: now)
    troubles[host, default: Trouble()].breaker = .open(pause, length: length)
    return pause.until.wall
  }
}
