/// Limits of fetching one body over several connections.
package struct RangeLimits: Hashable, Sendable {
  /// Most connections of one body.
  package var connections = 1
  package var smallestBody: Int64 = 64 << 20
  /// Received bytes after which a body tries a second connection.
  package var trialSize: Int64 = 16 << 20
  package var smallestRange: Int64 = 8 << 20
  /// Time over which rates are measured.
  package var window: Duration = .milliseconds(500)

  package init(connections: Int = 1) {
    self.connections = connections
  }
}

/// Decides over how many connections a body arrives: it doubles them while the sum rises.
package struct RangeRule: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    case wait
    /// Fetch over this many connections from now on.
    case grow(to: Int)
    /// More connections brought nothing.
    case shrink(to: Int)
  }

  /// State of a body's connections at one moment.
  package struct Observation: Hashable, Sendable {
    package var received: Int64
    /// Bytes to come.
    package var rest: Int64
    package var connections: Int
    /// Whether each connection has brought bytes.
    package var isEachMoving = true
    /// Rate of the fastest other body from the host, zero if unknown; nil without another body.
    package var fastestOther: Int64?

    package init(received: Int64, rest: Int64, connections: Int) {
      self.received = received
      self.rest = rest
      self.connections = connections
    }
  }

  private enum Phase: Hashable, Sendable {
    case single(slowWindows: Int)
    case trying(from: Int, baseline: Int64, begun: Duration, windows: Int)
    case settled
  }

  /// Wanted number of connections.
  package private(set) var target = 1
  private var most: Int
  private let limits: RangeLimits
  private var phase = Phase.single(slowWindows: 0)
  private var window: RateWindow

  /// Windows with a low rate before others' rates justify a second connection.
  private static let slowWindows = 4
  /// Windows in which the sum may rise before more connections count as useless.
  private static let patience = 3
  /// Windows that the rest of a body must last, so that more connections are worth a trial.
  private static let judgementWindows: Int64 = 2
  /// Time that new connections have to bring their first bytes.
  private static let startTime = Duration.seconds(3)

  package init(_ limits: RangeLimits) {
    self.limits = limits
    most = limits.connections
    window = RateWindow(limits.window)
  }

  package mutating func observe(_ observation: Observation, at now: Duration) -> Decision {
    if case .trying(_, _, let begun, _) = phase {
      // Neither handshakes nor finished ranges show what the host gives.
      let isStarting = !observation.isEachMoving && now - begun < Self.startTime
      if isStarting || observation.connections < target {
        window.restart(observation.received, at: now)
        return .wait
      }
    }
    guard let rate = window.rate(of: observation.received, at: now) else { return .wait }
    switch phase {
    case .single(let slowWindows):
      return considerTrial(slowWindows, rate, observation, at: now)
    case .trying(let former, let baseline, let begun, let windows):
      if rate >= baseline + baseline / 5 { return grow(above: rate, observation.rest, at: now) }
      guard windows + 1 >= Self.patience else {
        phase = .trying(from: former, baseline: baseline, begun: begun, windows: windows + 1)
        return .wait
      }
      limit(to: former)
      return .shrink(to: former)
    case .settled:
      return .wait
    }
  }

  private mutating func considerTrial(
    _ slowWindows: Int,
    _ rate: Int64,
    _ observation: Observation,
    at now: Duration
  ) -> Decision {
    if let other = observation.fastestOther {
      let isSlow = rate + rate / 5 < other
      phase = .single(slowWindows: isSlow ? slowWindows + 1 : 0)
      guard isSlow, slowWindows + 1 >= Self.slowWindows else { return .wait }
    } else {
      phase = .single(slowWindows: 0)
      guard observation.received >= limits.trialSize else { return .wait }
    }
    guard isWorthwhile(rate, observation.rest) else { return .wait }
    return grow(above: rate, observation.rest, at: now)
  }

  /// Returns whether the rest takes long enough for more connections to be judged.
  private func isWorthwhile(_ rate: Int64, _ rest: Int64) -> Bool {
    let milliseconds = Self.judgementWindows * limits.window.milliseconds
    return rest / max(1, milliseconds) * 1_000 >= rate
  }

  private mutating func grow(above rate: Int64, _ rest: Int64, at now: Duration) -> Decision {
    guard target < most, isWorthwhile(rate, rest) else {
      phase = .settled
      return .wait
    }
    phase = .trying(from: target, baseline: rate, begun: now, windows: 0)
    target = min(most, 2 * target)
    return .grow(to: target)
  }

  /// Records how many connections there are after a decision to grow, as far as there was room.
  package mutating func recordStart(connections: Int) {
    guard case .trying(let former, _, _, _) = phase, connections < target else { return }
    target = max(connections, former)
    guard connections <= former else { return }
    phase = former == 1 ? .single(slowWindows: 0) : .settled
  }

  /// Keeps the body at this many connections from now on.
  package mutating func limit(to connections: Int) {
    target = min(target, connections)
    most = target
    phase = .settled
  }
}

/// Measures a rate over windows of equal length.
package struct RateWindow: Hashable, Sendable {
  private struct Beginning: Hashable, Sendable {
    var time: Duration
    var size: Int64
  }

  private let length: Duration
  private var beginning: Beginning?

  package init(_ length: Duration) {
    self.length = length
  }

  package var hasBegun: Bool { beginning != nil }

  /// Returns the bytes a second since the window began, once it is over; then the next one begins.
  package mutating func rate(of size: Int64, at now: Duration) -> Int64? {
    guard let beginning else {
      restart(size, at: now)
      return nil
    }
    let milliseconds = (now - beginning.time).milliseconds
    guard now - beginning.time >= length, milliseconds > 0 else { return nil }
    restart(size, at: now)
    return (size - beginning.size) * 1_000 / milliseconds
  }

  package mutating func restart(_ size: Int64, at now: Duration) {
    beginning = Beginning(time: now, size: size)
  }
}
