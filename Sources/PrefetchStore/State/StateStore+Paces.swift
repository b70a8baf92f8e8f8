package import PrefetchCore

extension StateStore {
  /// Returns recent transfer rates of hosts, without future ones, which a wrong clock recorded.
  package func hostPaces(at now: Instant) throws(Failure) -> [String: HostPace] {
    let rows = try database.rows(
      """
      SELECT host, bytes, microseconds FROM host_paces \
      WHERE at>\(Self.oldestPace(at: now)) AND at<=\(now + Freshness.clockTolerance)
      """
    )
    var paces: [String: HostPace] = [:]
    while try rows.step() {
      paces[rows.text(0)] = HostPace(bytes: rows.number(1), busy: .microseconds(rows.number(2)))
    }
    return paces
  }

  package func recordHostPaces(_ news: [String: HostPace], at now: Instant) throws(Failure) {
    guard !news.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      let known = try hostPaces(at: now)
      try database.run(
        """
        DELETE FROM host_paces WHERE at<=\(Self.oldestPace(at: now)) \
        OR at>\(now + Freshness.clockTolerance)
        """
      )
      let insertion = database.prepare(
        "INSERT OR REPLACE INTO host_paces (host, bytes, microseconds, at) VALUES (?1, ?2, ?3, ?4)"
      )
      for (host, pace) in news {
        let whole = known[host]?.followed(by: pace) ?? pace
        try insertion.run(host, whole.bytes, whole.busy.microseconds, now)
      }
    }
  }

  private static func oldestPace(at now: Instant) -> Instant {
    now + (.zero - HostPace.maximumAge)
  }
}
