/// Rules of a run, read by the planner and the dispatcher.
package struct RunPolicy: Sendable {
  package var transportSecurity = TransportSecurity()
  package var connections = ConnectionPolicy()
  package var redirects = RedirectPolicy()
  package var retries = RetryPolicy()
  package var network = NetworkPolicy()
  /// Lookup of time zones; nil looks up the one that the configuration uses for its own rules.
  package var zone: @Sendable (String?) -> TimeZoneRules? = { _ in nil }
  package var concurrency = 32
  /// HTTP/1.1 connections per host, over HTTP/2 eight times as many streams; nil lets the run find
  /// their number.
  package var perHost: Int?
  /// Requests beyond the limits that the transport may queue itself; 0 if it does not keep to them.
  package var lookAhead = 0
  package var maximumFileSize: Int64? = 10 << 30
  package var maximumManifestSize: Int64 = 512 << 20
  package var maximumStale: Duration = .zero
  package var retriesFailed = true
  package var room = Room.Rules()
  package var tier = TierSettings()
  package var freshnessLimit: Duration?
  /// Longest time that an item removed from its list stays while its successors fail.
  package var removalGrace: Duration = .seconds(7 * 86_400)
  /// Share of a manifest's items that may vanish at once, from three items on.
  package var maximumRemovalFraction = 0.5
  package var allowsMassRemoval = false
  /// Whether a mirror accepts a list other than the last, although items would be removed.
  package var allowsListChange = false
  package var allowsRollback = false
  /// Whether bodies of any age are taken, whatever `min_age` says.
  package var allowsYoung = false
  package var manifestExpiry = ManifestExpiry.required
  package var revalidatesAll = false
  /// Whether all items are fetched again, without conditions.
  package var refetchesAll = false
  /// Whether paused items are fetched too, since a user asked for single items.
  package var wakesPaused = false
  package var bringsThumbnails = false
  package var isOffline = false
  package var probesItems = true
  /// Client's headers that go to every origin, since they prove nothing about the client.
  package var clientFields: [HeaderField] = []
  /// User agent that servers see, without a version of `prefetch`.
  package var agent = "prefetch"
  package var deadline: Duration?

  package init() {}

  /// Most connections to a host that the run may find.
  private static let foundPerHost = 16

  /// Connections to a host that a run begins with.
  package var assuredPerHost: Int {
    perHost ?? min(TransportSettings.firstConnections, concurrency)
  }

  package var connectionsPerHost: Int { perHost ?? min(Self.foundPerHost, concurrency) }
}

/// Rules for redirects; every hop is a request of its own.
package struct RedirectPolicy: Hashable, Sendable {
  package var isFollowing = true
  package var maximum = 5
  package var allowsCrossHost = true
  package var allowsDowngrade = false

  package init() {}
}

package struct RetryPolicy: Hashable, Sendable {
  /// Retries of an item after its first attempt.
  package var count = 3
  package var lookups = 3
  /// Delay before the first retry of a manifest or the like; nil for ``delay``.
  package var lookupDelay: Duration?
  package var statuses: [Int] = []
  /// Longest `Retry-After` that is waited for.
  package var wait: Duration = .seconds(120)
  package var delay: Duration = .seconds(1)
  package var maximumDelay: Duration = .seconds(30)

  package init() {}

  package func isBusy(_ status: Int) -> Bool {
    Self.isBusy(status) || statuses.contains(status)
  }

  /// Whether a status means that the same request may get another response in a moment.
  package static func isBusy(_ status: Int) -> Bool {
    switch status {
    case 408, 425, 429, 500, 502, 503, 504: true
    default: false
    }
  }

  /// Returns a delay with full jitter between 0 and the doubled delay; `random` is in 0..<1.
  package func delay(
    beforeAttempt attempt: Int,
    isLookup: Bool = false,
    random: Double
  ) -> Duration {
    let first = isLookup ? lookupDelay ?? delay : delay
    let doublings = min(max(attempt - 2, 0), 20)
    let ceiling = min(first * Double(1 << doublings), maximumDelay)
    return ceiling * random
  }
}
