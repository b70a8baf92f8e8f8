internal import PrefetchCore

/// The rates that hold for all workers together: of the whole run, of each host, of each group.
struct RateBuckets: Sendable {
  /// Bursts of so much of a second keep a fast line busy and a slow one smooth.
  private static let burstsPerSecond: Int64 = 4
  private static let smallestBurst: Int64 = 16_384

  private let ratePerHost: Int64?
  private var whole: TokenBucket?
  private var hosts: [String: TokenBucket] = [:]
  private var groups: [String: TokenBucket] = [:]

  init(_ settings: TransportSettings, now: Duration) {
    ratePerHost = settings.ratePerHost
    whole = settings.rate.map { Self.bucket($0, now) }
  }

  /// Whether every request is held to a rate, whatever its group.
  var holdsAll: Bool {
    whole != nil || ratePerHost != nil
  }

  /// Books what came for a request, which may be nothing; returns when the next may come.
  mutating func take(_ bytes: Int64, for request: TransferRequest, at now: Duration) -> Duration {
    whole?.take(bytes, at: now)
    var readyAt = whole?.readyAt ?? now
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

  private static func bucket(_ rate: Int64, _ now: Duration) -> TokenBucket {
    TokenBucket(rate: rate, burst: max(smallestBurst, rate / burstsPerSecond), now: now)
  }
}
