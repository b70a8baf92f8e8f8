package import PrefetchCore

/// A finished run, as statistics and `status` need it.
package struct RunRecord: Hashable, Sendable {
  package var id: String
  package var identity: String
  package var mode: String
  package var started: Instant
  package var finished: Instant
  package var exitCode: Int
  package var exitName: String
  /// The totals of the report, as the JSON object that stands there.
  package var totals: String
  /// How its segments ended, and how long hosts took to answer; written and not read back with it.
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
  /// Remembers a run and forgets the oldest of its identity beyond `keeping`.
  package func recordRun(_ run: RunRecord, keeping count: Int) throws(Failure) {
    try database.transaction { () throws(Failure) in
      let insertion = try database.prepare(
        """
        INSERT OR REPLACE INTO runs \
        (id, identity, mode, started, finished, exit_code, exit_name, totals) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
      )
      try insertion.bind(1, run.id)
      try insertion.bind(2, run.identity)
      try insertion.bind(3, run.mode)
      try insertion.bind(4, run.started)
      try insertion.bind(5, run.finished)
      try insertion.bind(6, run.exitCode)
      try insertion.bind(7, run.exitName)
      try insertion.bind(8, run.totals)
      try insertion.run()
      let number = database.lastInsertedRow
      for segment in run.segments { try record(segment, of: number) }
      try record(run.responseTimes, of: number)
      for table in ["run_segments", "run_hosts", "runs"] {
        let deletion = try database.prepare(
          """
          DELETE FROM \(table) WHERE run IN \
          (SELECT run FROM runs WHERE identity=?1 ORDER BY run DESC LIMIT -1 OFFSET ?2)
          """
        )
        try deletion.bind(1, run.identity)
        try deletion.bind(2, max(0, count))
        try deletion.run()
      }
    }
  }

  /// Those of one identity, or of all, the oldest first.
  package func runs(of identity: String?) throws(Failure) -> [RunRecord] {
    let rows = try database.prepare(
      """
      SELECT id, identity, mode, started, finished, exit_code, exit_name, totals FROM runs \
      WHERE ?1 IS NULL OR identity=?1 ORDER BY run
      """
    )
    try rows.bind(1, identity)
    var runs: [RunRecord] = []
    while try rows.step() {
      runs.append(
        RunRecord(
          id: rows.text(0),
          identity: rows.text(1),
          mode: rows.text(2),
          started: Instant(milliseconds: rows.number(3)),
          finished: Instant(milliseconds: rows.number(4)),
          exitCode: Int(rows.number(5)),
          exitName: rows.text(6),
          totals: rows.text(7)
        )
      )
    }
    return runs
  }
}
