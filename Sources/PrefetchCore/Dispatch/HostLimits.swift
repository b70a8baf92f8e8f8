/// What the answers of a run say about when each host may be asked again.
///
/// Three things keep a host from being asked: the time it named itself, a connection that cannot be
/// made, and a row of broken transfers. Hosts without trouble are not remembered at all.
package struct HostLimits: Sendable {
  package enum Verdict: Hashable, Sendable {
    case open
    /// Nothing goes to the host before that uptime; the run can wait for it.
    case wait(until: Duration)
    /// The run cannot wait so long.
    case deferred(Deferral)
    /// The host cannot be reached, so nothing else is tried there.
    case failed(Failure)
  }

  /// A host that named a time, as it is remembered over runs.
  package struct Gate: Hashable, Sendable {
    package var host: HostID
    package var until: Instant
  }

  private struct Pause: Hashable, Sendable {
    var until: Moment
    /// Decided once, so that of a host's items not one is deferred and the next one waited for.
    var isBeyondRun: Bool
  }

  private enum Breaker: Hashable, Sendable {
    /// So many items in a row ended in broken transfers.
    case closed(failures: Int)
    /// Until the pause is over; from then on one request at a time may try.
    case open(Pause, length: Duration)
  }

  private struct Trouble: Hashable, Sendable {
    var gate: Pause?
    var unreachable: Failure?
    var breaker = Breaker.closed(failures: 0)
  }

  /// So many items in a row open the breaker.
  package static let failuresInARow = 5
  private static let firstPause: Duration = .seconds(60)
  private static let longestPause: Duration = .seconds(300)

  private var troubles: [HostID: Trouble] = [:]
  private let patience: Duration
  /// The uptime at which the run ends.
  private let deadline: Duration?

  /// `remembered` are the gates that earlier runs left.
  package init(
    retries: RetryPolicy,
    deadline: Duration? = nil,
    remembered: [Gate] = [],
    now: Moment
  ) {
    patience = retries.wait
    self.deadline = deadline
    for gate in remembered {
      shut(gate.host, for: gate.until - now.wall, now: now)
    }
  }

  // MARK: Facts

  /// A whole answer came; `retryAfter` is its header.
  ///
  /// The host named in a request's URL is the one that answered.
  package mutating func noteAnswer(
    _ host: HostID,
    status: Int,
    retryAfter: String?,
    now: Moment
  ) {
    guard RetryPolicy.isBusy(status) else { return succeed(host) }
    if let told = RetryAfter.pause(retryAfter, now: now.wall) { shut(host, for: told, now: now) }
  }

  /// A request ended without an answer; `isExhausted` when it is not tried again.
  ///
  /// A host that stays busy through every retry counts as well, as `server_busy`. The retries of one
  /// item count once, at its end. Returns until when the host is left alone if that has just begun.
  @discardableResult
  package mutating func noteFailure(
    _ host: HostID,
    _ failure: Failure,
    isExhausted: Bool,
    now: Moment
  ) -> Instant? {
    // Our own doing says nothing about the host.
    guard failure.code != .cancelled else { return nil }
    guard failure.code.category == .connectivity else {
      // Whatever else was wrong, a server was there and spoke.
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

  /// How many requests may be under way to the host at once; nil where nothing is known against it.
  ///
  /// One after a broken row, until an answer comes.
  package func limit(of host: HostID) -> Int? {
    guard let trouble = troubles[host], case .open = trouble.breaker else { return nil }
    return 1
  }

  /// The gates that the next run has to obey as well, by host.
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
    return Pause(until: until, isBeyondRun: length > patience || isTooLate)
  }

  private mutating func shut(_ host: HostID, for told: Duration, now: Moment) {
    guard told > .zero else { return }
    let gate = pause(min(told, RetryAfter.longest), now: now)
    // Of several answers the one that asks for the most quiet counts.
    if let known = troubles[host]?.gate, known.until.uptime >= gate.until.uptime { return }
    troubles[host, default: Trouble()].gate = gate
  }

  private mutating func succeed(_ host: HostID) {
    guard let trouble = troubles[host] else { return }
    // Who answers is no longer unreachable: another of its addresses may have been tried.
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
      // Of those that were in flight when it opened nothing new is learnt.
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
