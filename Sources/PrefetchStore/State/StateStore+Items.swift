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
        try statement.bind(1, url)
        try statement.bind(2, instant)
        try statement.run()
      }
    }
  }

  /// When each item was last used, as far as that was noted.
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
    try row.bind(1, url)
    return try row.step() ? row.instant(0) : nil
  }
}
