internal import PrefetchCore

/// Rate limits that all workers share: of the run, of each host, of each group.
struct RateBuckets: Sendable {
  private static let burstsPerSecond: Int64 = 4
  private static let smallestBurst: Int64 = 16_384

  /// Interval of reading the timetable, and clocks that were set.
  private static let lookEvery = Duration.seconds(1)

  private let ratePerHost: Int64?
  private let schedule: RateSchedule?
  private let wallTime: @Sendable () -> Instant
  private var looksAgain: Duration?
  private var rate: Int64?
  private var whole: TokenBucket?
  private var hosts: [String: TokenBucket] = [:]
  private var groups: [String: TokenBucket] = [:]

  init(
    _ settings: TransportSettings,
    now: Duration,
    wallTime: @escaping @Sendable () -> Instant = Uptime.wallTime
  ) {
    ratePerHost = settings.ratePerHost
    schedule = settings.rate
    self.wallTime = wallTime
    rate = schedule?.rate(at: wallTime())
    whole = rate.map { Self.bucket($0, now) }
    if schedule?.isSteady == false { looksAgain = now + Self.lookEvery }
  }

  var holdsAll: Bool {
    schedule != nil || ratePerHost != nil
  }

  /// Books bytes (or none) for a request; returns when the next bytes may come.
  mutating func consume(_ bytes: Int64, for request: TransferRequest, at now: Duration) -> Duration
  {
    followTimetable(at: now)
    whole?.consume(bytes, at: now)
    var readyAt = whole?.readyAt ?? now
    // The timetable may change the rate before the debt is paid.
    if let looksAgain { readyAt = min(readyAt, looksAgain) }
    if let ratePerHost {
      let host = request.url.host
      hosts[host, default: Self.bucket(ratePerHost, now)].consume(bytes, at: now)
      readyAt = max(readyAt, hosts[host]?.readyAt ?? now)
    }
    if let group = request.rateGroup {
      groups[group.name, default: Self.bucket(group.rate, now)].consume(bytes, at: now)
      readyAt = max(readyAt, groups[group.name]?.readyAt ?? now)
    }
    return readyAt
  }

  /// Switches to the present rate; the debt to the former rate is dropped.
  private mutating func followTimetable(at now: Duration) {
    guard let due = looksAgain, due <= now else { return }
    looksAgain = now + Self.lookEvery
    let current = schedule?.rate(at: wallTime())
    guard current != rate else { return }
    rate = current
    whole = current.map { Self.bucket($0, now) }
  }

  private static func bucket(_ rate: Int64, _ now: Duration) -> TokenBucket {
    TokenBucket(rate: rate, burst: max(smallestBurst, rate / burstsPerSecond), now: now)
  }
}
