internal import PrefetchCore

/// Limit of connections to one host that finds itself: more are kept while the sum of rates rises.
///
/// A window doubles, lets the new connections get their first bytes, and compares the rate then. The
/// first time it doubles with the first response: until the new connections carry bytes, the rate is
/// that of the earlier ones.
struct ConnectionWindow: Sendable {
  /// Limit for a host so near that more connections only share its processors.
  static let nearLimit = 6
  static let nearLatency: Duration = .milliseconds(20)
  /// Bytes that count for a response, so that many small ones are a rate too.
  static let responseWeight: Int64 = 8_192

  private enum Phase: Sendable {
    /// Nothing has arrived yet.
    case waiting
    /// The first connections are measured while the second ones still connect.
    case doubling(since: Duration)
    /// New connections may still wait for their first bytes.
    case settling(until: Duration)
    case measuring(since: Duration)
    /// Adding did not help, or made the host refuse.
    case resting(until: Duration)
    /// Nothing more can be added.
    case done
  }

  private let ceiling: Int
  let isFixed: Bool
  private let least: Int
  private(set) var limit: Int
  private var phase = Phase.waiting
  private var leastLatency: Duration?
  /// Limit and rate before the last addition.
  private var before: (limit: Int, rate: Int64)?
  private var work: Int64 = 0
  /// Whether all connections were in use since the measuring began.
  private var isBinding = false
  private var rest: Duration = .seconds(1)

  private static let shortestStep: Duration = .milliseconds(100)
  private static let longestRest: Duration = .seconds(60)

  /// Creates a window; a fixed one is always as large as its ceiling, others at least `least`.
  init(ceiling: Int, isFixed: Bool, least: Int = 1) {
    self.least = least
    self.ceiling = max(1, ceiling)
    self.isFixed = isFixed
    limit = isFixed ? self.ceiling : min(TransportSettings.firstConnections, self.ceiling)
    if isFixed { phase = .done }
  }

  /// Most connections that the host may get, as far as is known.
  var most: Int {
    let isNear = leastLatency.map { $0 < Self.nearLatency } ?? false
    return isNear && !isFixed ? min(Self.nearLimit, ceiling) : ceiling
  }

  /// Counts what arrived from the host; `latency` is the time from a request to its response.
  mutating func record(
    bytes: Int64,
    responses: Int = 0,
    latency: Duration? = nil,
    isFull: Bool = true,
    at now: Duration
  ) {
    if let latency { leastLatency = min(leastLatency ?? latency, latency) }
    if case .done = phase { return }
    if isFull { isBinding = true }
    work += bytes + Int64(responses) * Self.responseWeight
    guard let leastLatency else { return }
    let step = max(Self.shortestStep, leastLatency)
    switch phase {
    case .settling(let end), .resting(let end):
      if now >= end { measure(since: now) }
    case _ where leastLatency < Self.nearLatency:
      limit = min(Self.nearLimit, ceiling)
      phase = .done
    case .waiting where isFull && limit < ceiling:
      phase = .doubling(since: now)
      work = 0
      before = (limit, 0)
      limit = min(2 * limit, ceiling)
    case .waiting: measure(since: now)
    case .doubling(let start):
      guard now - start >= leastLatency else { break }
      let rate = rate(over: now - start)
      before?.rate = rate
      phase = .settling(until: start + step * 3)
    case .measuring(let start):
      if now - start >= step { conclude(now - start, step, at: now) }
    case .done: break
    }
  }

  /// Takes half of the connections back from a host that refuses requests or breaks them off.
  mutating func recordTrouble(at now: Duration) {
    guard !isFixed else { return }
    limit = max(least, limit / 2)
    pause(at: now)
  }

  private mutating func measure(since now: Duration) {
    phase = .measuring(since: now)
    work = 0
    isBinding = false
  }

  private mutating func conclude(_ elapsed: Duration, _ step: Duration, at now: Duration) {
    guard isBinding else { return measure(since: now) }
    let rate = rate(over: elapsed)
    if let before, rate < before.rate + before.rate / 8 {
      limit = before.limit
      return pause(at: now)
    }
    before = (limit, rate)
    guard limit < ceiling else {
      phase = .done
      return
    }
    limit = min(2 * limit, ceiling)
    // A connection and its first response take three round trips with TLS, two without.
    phase = .settling(until: now + step * 3)
  }

  private func rate(over elapsed: Duration) -> Int64 {
    work * 1_000 / max(1, elapsed.milliseconds)
  }

  private mutating func pause(at now: Duration) {
    before = nil
    phase = .resting(until: now + rest)
    rest = min(rest * 2, Self.longestRest)
  }
}
