package import PrefetchCore

extension StateStore {
  /// The hosts that HTTP/3 lately did not get through to, by the configuration that asked them.
  package func http3Failures(at now: Instant) throws(Failure) -> [UInt64: Set<String>] {
    // Nothing holds for longer, also where a clock was wrong when it was remembered.
    let rows = try database.rows(
      """
      SELECT configuration, host FROM http3_failures WHERE until>\(now) AND \
      until<=\(now + Self.http3Memory)
      """
    )
    var failures: [UInt64: Set<String>] = [:]
    while try rows.step() {
      failures[UInt64(bitPattern: rows.number(0)), default: []].insert(rows.text(1))
    }
    return failures
  }

  /// Remembers these hosts for a day, and forgets what is over.
  package func recordHTTP3Failures(
    _ hosts: Set<String>,
    configuration: UInt64,
    at now: Instant
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try database.run(
        "DELETE FROM http3_failures WHERE until<=\(now) OR until>\(now + Self.http3Memory)"
      )
      let insertion = try database.prepare(
        "INSERT OR REPLACE INTO http3_failures (configuration, host, until) VALUES (?1, ?2, ?3)"
      )
      for host in hosts.sorted() {
        try insertion.run(configuration, host, now + Self.http3Memory)
      }
    }
  }

  private static let http3Memory: Duration = .seconds(86_400)
}
