package import PrefetchCore

extension StateStore {
  /// The hosts that HTTP/3 lately did not get through to, by the configuration that asked them.
  package func http3Failures(at now: Instant) throws(Failure) -> [UInt64: Set<String>] {
    let rows = try database.prepare(
      "SELECT configuration, host FROM http3_failures WHERE until>?1 AND until<=?2"
    )
    try rows.bind(1, now)
    // Nothing holds for longer, also where a clock was wrong when it was remembered.
    try rows.bind(2, now + Self.http3Memory)
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
      let deletion = try database.prepare("DELETE FROM http3_failures WHERE until<=?1 OR until>?2")
      try deletion.bind(1, now)
      try deletion.bind(2, now + Self.http3Memory)
      try deletion.run()
      let insertion = try database.prepare(
        "INSERT OR REPLACE INTO http3_failures (configuration, host, until) VALUES (?1, ?2, ?3)"
      )
      for host in hosts.sorted() {
        try insertion.bind(1, Int64(bitPattern: configuration))
        try insertion.bind(2, host)
        try insertion.bind(3, now + Self.http3Memory)
        try insertion.run()
      }
    }
  }

  private static let http3Memory: Duration = .seconds(86_400)
}
