/// The rules of a run, as values that the planner and the dispatcher read.
package struct RunPolicy: Sendable {
  package var transportSecurity = TransportSecurity()
  package var connections = ConnectionPolicy()
  package var redirects = RedirectPolicy()
  package var retries = RetryPolicy()
  /// Under what conditions anything is transferred; segments may narrow it.
  package var network = NetworkPolicy()
  /// Time zones by name; nil asks for the one that the configuration names for its own rules.
  package var zone: @Sendable (String?) -> TimeZoneRules? = { _ in nil }
  /// Transfers in flight at once.
  package var concurrency = 8
  /// HTTP/1.1 connections to one host; over HTTP/2 eight times as many streams.
  package var perHost = 4
  /// How many requests more than those the transport may be given, to keep them in line itself.
  ///
  /// Zero where the transport does not hold to the two limits on its own.
  package var lookAhead = 0
  package var maximumFileSize: Int64? = 10 << 30
  package var maximumManifestSize: Int64 = 512 << 20
  /// How long a stale copy serves when its server cannot be asked.
  package var maximumStale: Duration = .zero
  /// Whether what failed is tried again by each run.
  package var retriesFailed = true
  /// How much the cache may take, and how room is made.
  package var room = Room.Rules()
  /// What machines share.
  package var tier = TierSettings()
  /// An upper bound on freshness for everything.
  package var freshnessLimit: Duration?
  /// How long an item that left its list stays at most while its successors fail.
  package var removalGrace: Duration = .seconds(7 * 86_400)
  /// The share of a manifest's items that may vanish at once, from three items on.
  package var maximumRemovalFraction = 0.5
  package var allowsMassRemoval = false
  /// Whether a mirror may be given another list than the last, though items would go with it.
  package var allowsListChange = false
  package var allowsRollback = false
  package var manifestExpiry = ManifestExpiry.required
  /// Ask about everything that is stored, fresh or not.
  package var revalidatesAll = false
  /// Fetch everything anew, without conditions.
  package var refetchesAll = false
  /// A user who asks for single items means those too that were paused.
  package var wakesPaused = false
  /// Whether these come with their thumbnails.
  package var bringsThumbnails = false
  package var isOffline = false
  /// Whether a dry run may ask about single items.
  package var probesItems = true
  /// Headers of a client on whose behalf items are asked for, which prove nothing about it.
  package var clientFields: [HeaderField] = []
  /// Our name as servers see it, without a version of ours.
  package var agent = "prefetch"
  /// How long the run may take from its start.
  package var deadline: Duration?

  package init() {}
}

/// Which redirects are followed; every hop is a request of its own.
package struct RedirectPolicy: Hashable, Sendable {
  package var isFollowing = true
  package var maximum = 5
  package var allowsCrossHost = true
  package var allowsDowngrade = false

  package init() {}
}

/// When a failed transfer is tried again.
package struct RetryPolicy: Hashable, Sendable {
  /// Attempts of an item after the first one.
  package var count = 3
  /// The same of a manifest, and of whatever else says what there is.
  package var lookups = 3
  /// Before the first of those; nil for ``delay``.
  package var lookupDelay: Duration?
  /// Statuses that mean the same as a busy server's at some hosts.
  package var statuses: [Int] = []
  /// The longest Retry-After that is waited for.
  package var wait: Duration = .seconds(120)
  package var delay: Duration = .seconds(1)
  package var maximumDelay: Duration = .seconds(30)

  package init() {}

  /// The same with those that the configuration adds.
  package func isBusy(_ status: Int) -> Bool {
    Self.isBusy(status) || statuses.contains(status)
  }

  /// Whether a status means that the same question may get another answer in a moment.
  package static func isBusy(_ status: Int) -> Bool {
    switch status {
    case 408, 425, 429, 500, 502, 503, 504: true
    default: false
    }
  }

  /// Full jitter: anywhere between nothing and the doubled delay, `random` in 0..<1.
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
