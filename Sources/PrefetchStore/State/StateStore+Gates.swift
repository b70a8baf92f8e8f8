package import PrefetchCore

extension StateStore {
  /// Returns hosts with a gate at most a day ahead; longer gates come from a wrong clock.
  package func hostGates(at now: Instant) throws(Failure) -> [HostGate] {
    let latest = now + RetryAfter.longest + Freshness.clockTolerance
    return try database.rows(
      "SELECT host, until FROM host_gates WHERE until>\(now) AND until<=\(latest) ORDER BY host"
    ).all { row in
      HostGate(host: row.text(0), until: Instant(milliseconds: row.number(1)))
    }
  }

  package func recordHostGates(_ gates: [HostGate], at now: Instant) throws(Failure) {
    if gates.isEmpty, try !hasHostGates() { return }
    try database.transaction { () throws(Failure) in
      let latest = now + RetryAfter.longest + Freshness.clockTolerance
      try database.run("DELETE FROM host_gates WHERE until<=\(now) OR until>\(latest)")
      let insertion = database.prepare(
        """
        INSERT INTO host_gates (host, until) VALUES (?1, ?2) \
        ON CONFLICT (host) DO UPDATE SET until=max(until, ?2)
        """
      )
      for gate in gates {
        try insertion.run(gate.host, gate.until)
      }
    }
  }

  private func hasHostGates() throws(Failure) -> Bool {
    try database.number("SELECT EXISTS (SELECT 1 FROM host_gates)") == 1
  }
}
