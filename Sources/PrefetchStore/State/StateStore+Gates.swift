package import PrefetchCore

extension StateStore {
  /// The hosts that named a time before which they do not want to be asked.
  package func hostGates(at now: Instant) throws(Failure) -> [HostGate] {
    let rows = try database.prepare(
      "SELECT host, until FROM host_gates WHERE until>?1 ORDER BY host"
    )
    try rows.bind(1, now)
    var gates: [HostGate] = []
    while try rows.step() {
      gates.append(
        HostGate(host: rows.text(0), until: Instant(milliseconds: rows.number(1)))
      )
    }
    return gates
  }

  /// Remembers the latest that any run was told, and forgets what is over.
  package func recordHostGates(_ gates: [HostGate], at now: Instant) throws(Failure) {
    if gates.isEmpty, try !hasHostGates() { return }
    try database.transaction { () throws(Failure) in
      let deletion = try database.prepare("DELETE FROM host_gates WHERE until<=?1")
      try deletion.bind(1, now)
      try deletion.run()
      let insertion = try database.prepare(
        """
        INSERT INTO host_gates (host, until) VALUES (?1, ?2) \
        ON CONFLICT (host) DO UPDATE SET until=max(until, ?2)
        """
      )
      for gate in gates {
        try insertion.bind(1, gate.host)
        try insertion.bind(2, gate.until)
        try insertion.run()
      }
    }
  }

  private func hasHostGates() throws(Failure) -> Bool {
    try database.number("SELECT EXISTS (SELECT 1 FROM host_gates)") == 1
  }
}
