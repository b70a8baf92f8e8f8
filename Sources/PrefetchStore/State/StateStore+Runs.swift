package import PrefetchCore

package struct RunRecord: Hashable, Sendable {
  package var id: String
  package var identity: String
  package var mode: String
  package var started: Instant
  package var finished: Instant
  package var exitCode: Int
  package var exitName: String
  /// Totals of the report, as its JSON object.
  package var totals: String
  /// Whether the user selected some segments; written, not read back.
  package var isPartial = false
  /// Details of segments and hosts; written, not read back here.
  package var segments: [SegmentRun] = []
  package var responseTimes: [String: ResponseTimes] = [:]

  package init(
    id: String,
    identity: String,
    mode: String,
    started: Instant,
    finished: Instant,
    exitCode: Int,
    exitName: String,
    totals: String
  ) {
    self.id = id
    self.identity = identity
    self.mode = mode
    self.started = started
    self.finished = finished
    self.exitCode = exitCode
    self.exitName = exitName
    self.totals = totals
  }
}

extension StateStore {
  package func recordRun(_ run: RunRecord, keeping count: Int) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try database.run(
        """
        INSERT OR REPLACE INTO runs \
        (id, identity, mode, started, finished, exit_code, exit_name, totals, is_partial) \
        VALUES (\(run.id), \(run.identity), \(run.mode), \(run.started), \(run.finished), \
        \(run.exitCode), \(run.exitName), \(run.totals), \(run.isPartial))
        """
      )
      let number = database.lastInsertedRow
      for segment in run.segments { try record(segment, of: number) }
      try record(run.responseTimes, of: number)
      for table in ["run_segments", "run_hosts", "runs"] {
        try database.run(
          """
          DELETE FROM \(raw: table) WHERE run IN \
          (SELECT run FROM runs WHERE identity=\(run.identity) ORDER BY run DESC LIMIT -1 OFFSET \
          \(max(0, count)))
          """
        )
      }
    }
  }

  /// Returns runs, oldest first, of one identity or, with nil, of all.
  package func runs(of identity: String?) throws(Failure) -> [RunRecord] {
    try database.rows(
      """
      SELECT id, identity, mode, started, finished, exit_code, exit_name, totals FROM runs \
      WHERE \(identity) IS NULL OR identity=\(identity) ORDER BY run
      """
    ).all { row in
      RunRecord(
        id: row.text(0),
        identity: row.text(1),
        mode: row.text(2),
        started: Instant(milliseconds: row.number(3)),
        finished: Instant(milliseconds: row.number(4)),
        exitCode: Int(row.number(5)),
        exitName: row.text(6),
        totals: row.text(7)
      )
    }
  }
}
