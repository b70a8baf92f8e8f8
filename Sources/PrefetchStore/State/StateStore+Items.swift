package import PrefetchCore

extension StateStore {
  // MARK: Use

  package func markUsed(_ urls: some Sequence<String>, at instant: Instant) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let statement = try database.prepare(
        """
        INSERT INTO item_use (url, used_at) VALUES (?1, ?2) \
        ON CONFLICT (url) DO UPDATE SET used_at=max(used_at, ?2)
        """
      )
      for url in urls {
        try statement.bind(1, RememberedURL.name(of: url))
        try statement.bind(2, instant)
        try statement.run()
      }
    }
  }

  /// When each item was last used, as far as that was noted, by its ``RememberedURL``.
  package func uses() throws(Failure) -> [String: Instant] {
    let rows = try database.prepare("SELECT url, used_at FROM item_use")
    var uses: [String: Instant] = [:]
    while try rows.step() {
      uses[rows.text(0)] = Instant(milliseconds: rows.number(1))
    }
    return uses
  }

  package func lastUse(of url: String) throws(Failure) -> Instant? {
    let row = try database.prepare("SELECT used_at FROM item_use WHERE url=?1")
    try row.bind(1, RememberedURL.name(of: url))
    return try row.step() ? row.instant(0) : nil
  }

  // MARK: Consumption

  /// That somebody has seen an item, or a part of it.
  ///
  /// Each quarter of it counts once, until a new body has come. `event` is told which of them are
  /// new.
  package func consume(
    _ url: String,
    _ quartiles: Quartiles,
    fetchedAt: Instant?,
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant,
    as event: (Quartiles) -> AnalyticsEvent
  ) throws(Failure) -> AnalyticsEvent {
    let database = database
    return try database.transaction { () throws(Failure) -> AnalyticsEvent in
      let row = try database.prepare(
        "SELECT consumed_at, quartiles FROM item_consumption WHERE url=?1"
      )
      let name = RememberedURL.name(of: url)
      try row.bind(1, name)
      var earlier: Quartiles = []
      if try row.step(), fetchedAt.map({ $0.milliseconds <= row.number(0) }) ?? true {
        earlier = Quartiles(rawValue: Int(row.number(1)))
      }
      row.reset()
      let insertion = try database.prepare(
        "INSERT OR REPLACE INTO item_consumption VALUES (?1, ?2, ?3)"
      )
      try insertion.bind(1, name)
      try insertion.bind(2, now)
      try insertion.bind(3, earlier.union(quartiles).rawValue)
      try insertion.run()
      let event = event(quartiles.subtracting(earlier))
      try add([event], of: identity, within: bounds, at: now)
      return event
    }
  }

  /// When each item was consumed last, by its ``RememberedURL``.
  package func consumptions() throws(Failure) -> [String: Instant] {
    let rows = try database.prepare("SELECT url, consumed_at FROM item_consumption")
    var consumptions: [String: Instant] = [:]
    while try rows.step() { consumptions[rows.text(0)] = rows.instant(1) }
    return consumptions
  }

  // MARK: Serving

  /// What servers have done.
  package struct Served: Hashable, Sendable {
    package var hits: Int64 = 0
    package var misses: Int64 = 0
    package var failures: Int64 = 0
    package var bytes: Int64 = 0

    package init() {}
  }

  package func add(_ served: Served, on day: String) throws(Failure) {
    let statement = try database.prepare(
      """
      INSERT INTO served_days VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (day) DO UPDATE SET \
      hits=hits+?2, misses=misses+?3, failures=failures+?4, bytes=bytes+?5
      """
    )
    try statement.bind(1, day)
    let numbers = [served.hits, served.misses, served.failures, served.bytes]
    for (place, number) in numbers.enumerated() { try statement.bind(Int32(place + 2), number) }
    try statement.run()
  }

  /// Of all days.
  package func served() throws(Failure) -> Served {
    var served = Served()
    guard try has("served_days") else { return served }
    let row = try database.prepare(
      """
      SELECT coalesce(sum(hits), 0), coalesce(sum(misses), 0), coalesce(sum(failures), 0), \
      coalesce(sum(bytes), 0) FROM served_days
      """
    )
    guard try row.step() else { return served }
    (served.hits, served.misses) = (row.number(0), row.number(1))
    (served.failures, served.bytes) = (row.number(2), row.number(3))
    return served
  }

  // MARK: Quality

  /// How the last download of each stream went.
  package func pastDownloads() throws(Failure) -> [String: PastDownload] {
    guard try has("quality_history") else { return [:] }
    let rows = try database.prepare(
      "SELECT key, quality, CAST(seconds * 1000 AS INTEGER), bytes FROM quality_history"
    )
    var downloads: [String: PastDownload] = [:]
    while try rows.step() {
      guard let quality = BundleRules.Quality(rawValue: rows.text(1)) else { continue }
      downloads[rows.text(0)] = PastDownload(
        quality: quality,
        seconds: Double(rows.number(2)) / 1000,
        bytes: rows.number(3)
      )
    }
    return downloads
  }

  package func record(
    _ downloads: [String: PastDownload],
    at instant: Instant
  ) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let statement = try database.prepare(
        "INSERT OR REPLACE INTO quality_history VALUES (?1, ?2, ?3 / 1000.0, ?4, ?5)"
      )
      for (key, download) in downloads {
        try statement.bind(1, key)
        try statement.bind(2, download.quality.rawValue)
        try statement.bind(3, Int64(download.seconds * 1000))
        try statement.bind(4, download.bytes)
        try statement.bind(5, instant)
        try statement.run()
      }
    }
  }
}
