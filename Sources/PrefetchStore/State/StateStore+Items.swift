package import PrefetchCore

extension StateStore {
  // MARK: Use

  package func markUsed(_ urls: some Sequence<String>, at instant: Instant) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let statement = database.prepare(
        """
        INSERT INTO item_use (url, used_at) VALUES (?1, ?2) \
        ON CONFLICT (url) DO UPDATE SET used_at=max(used_at, ?2)
        """
      )
      for url in urls {
        try statement.run(RememberedURL.name(of: url), instant)
      }
    }
  }

  /// Returns the last uses by ``RememberedURL``.
  package func uses() throws(Failure) -> [String: Instant] {
    let rows = database.prepare("SELECT url, used_at FROM item_use")
    var uses: [String: Instant] = [:]
    while try rows.step() {
      uses[rows.text(0)] = Instant(milliseconds: rows.number(1))
    }
    return uses
  }

  // MARK: Consumption

  /// Records that a user has seen quarters of an item; `event` gets those new for the body.
  package func consume(
    _ url: String,
    _ quartiles: Quartiles,
    fetchedAt: Instant?,
    of identity: String,
    within bounds: QueueBounds,
    seenAt time: Instant? = nil,
    at now: Instant,
    as event: (Quartiles) -> AnalyticsEvent
  ) throws(Failure) -> AnalyticsEvent {
    let database = database
    return try database.transaction { () throws(Failure) -> AnalyticsEvent in
      let row = database.prepare(
        "SELECT consumed_at, quartiles FROM item_consumption WHERE url=?1"
      )
      let name = RememberedURL.name(of: url)
      try row.set(name)
      var earlier: Quartiles = []
      var last = time ?? now
      if try row.step() {
        last = max(last, row.instant(0) ?? last)
        if fetchedAt.map({ $0.milliseconds <= row.number(0) }) ?? true {
          earlier = Quartiles(rawValue: Int(row.number(1)))
        }
      }
      row.reset()
      try database.run(
        """
        INSERT OR REPLACE INTO item_consumption VALUES (\(name), \(last), \
        \(earlier.union(quartiles).rawValue))
        """
      )
      let event = event(quartiles.subtracting(earlier))
      try add([event], of: identity, within: bounds, at: now)
      return event
    }
  }

  package func consumptions() throws(Failure) -> [String: Instant] {
    let rows = database.prepare("SELECT url, consumed_at FROM item_consumption")
    var consumptions: [String: Instant] = [:]
    while try rows.step() { consumptions[rows.text(0)] = rows.instant(1) }
    return consumptions
  }

  // MARK: Serving

  package func add(_ served: ServeFigures, on day: String) throws(Failure) {
    try database.run(
      """
      INSERT INTO served_days VALUES (\(day), \(served.hits), \(served.misses), \
      \(served.failures), \(served.bytes)) ON CONFLICT (day) DO UPDATE SET \
      hits=hits+\(served.hits), misses=misses+\(served.misses), \
      failures=failures+\(served.failures), bytes=bytes+\(served.bytes)
      """
    )
  }

  package func served() throws(Failure) -> ServeFigures {
    var served = ServeFigures()
    let row = database.prepare(
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

  package func pastDownloads() throws(Failure) -> [String: PastDownload] {
    let rows = database.prepare(
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
      let statement = database.prepare(
        "INSERT OR REPLACE INTO quality_history VALUES (?1, ?2, ?3 / 1000.0, ?4, ?5)"
      )
      for (key, download) in downloads {
        try statement.run(
          key,
          download.quality.rawValue,
          Int64(download.seconds * 1000),
          download.bytes,
          instant
        )
      }
    }
  }
}

extension DiskStore {
  /// Sets the state whose recorded uses order evictions; it is opened only for an eviction.
  package func orderRoom(by state: @escaping () throws(Failure) -> StateStore?) {
    lastUses = { () throws(Failure) in try state()?.uses() ?? [:] }
    consumptions = { () throws(Failure) in try state()?.consumptions() ?? [:] }
  }
}
