internal import PrefetchCore

/// The rates that hold for all workers together: of the whole run, of each host, of each group.
struct RateBuckets: Sendable {
  /// Bursts of so much of a second keep a fast line busy and a slow one smooth.
  private static let burstsPerSecond: Int64 = 4
  private static let smallestBurst: Int64 = 16_384

  /// How often workers look whether another rate of a timetable holds; also clocks that are set
  /// are seen so.
  private static let lookEvery = Duration.seconds(1)

  private let ratePerHost: Int64?
  private let schedule: RateSchedule?
  /// Tells the time of the week; asked where a timetable needs it.
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

  /// Whether every request is held to a rate, whatever its group.
  var holdsAll: Bool {
    schedule != nil || ratePerHost != nil
  }

  /// Books what came for a request, which may be nothing; returns when the next may come.
  mutating func take(_ bytes: Int64, for request: TransferRequest, at now: Duration) -> Duration {
    followTimetable(at: now)
    whole?.take(bytes, at: now)
    var readyAt = whole?.readyAt ?? now
    // A debt is owed to the rate that holds; the worker looks whether it still does.
    if let looksAgain { readyAt = min(readyAt, looksAgain) }
    if let ratePerHost {
      let host = request.url.host
      hosts[host, default: Self.bucket(ratePerHost, now)].take(bytes, at: now)
      readyAt = max(readyAt, hosts[host]?.readyAt ?? now)
    }
    if let group = request.rateGroup {
      groups[group.name, default: Self.bucket(group.rate, now)].take(bytes, at: now)
      readyAt = max(readyAt, groups[group.name]?.readyAt ?? now)
    }
    return readyAt
  }

  /// What is owed to one rate is not owed to the next.
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
