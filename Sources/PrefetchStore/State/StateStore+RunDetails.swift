package import PrefetchCore

package struct SegmentRun: Hashable, Sendable {
  package var name: String
  package var state: SegmentState
  package var items: Int64
  /// Number of fetched, updated and removed items.
  package var changed: Int64
  package var failed: Int64
  /// ID of the run, when read back; empty before.
  package var run = ""
  package var finished = Instant(milliseconds: 0)

  package init(
    name: String,
    state: SegmentState,
    items: Int64,
    changed: Int64,
    failed: Int64
  ) {
    self.name = name
    self.state = state
    self.items = items
    self.changed = changed
    self.failed = failed
  }
}

extension StateStore {
  /// Most hosts stored per run: those with the most responses.
  private static let mostHosts = 100

  func record(_ segment: SegmentRun, of run: Int64) throws(Failure) {
    try database.run(
      """
      INSERT OR REPLACE INTO run_segments (run, name, state, items, changed, failed) \
      VALUES (\(run), \(segment.name), \(segment.state.rawValue), \(segment.items), \
      \(segment.changed), \(segment.failed))
      """
    )
  }

  func record(_ times: [String: ResponseTimes], of run: Int64) throws(Failure) {
    let insertion = database.prepare(
      "INSERT OR REPLACE INTO run_hosts (run, host, answers) VALUES (?1, ?2, ?3)"
    )
    let counted = times.map { (host: $0.key, responses: $0.value.responses, times: $0.value) }
    let most = counted.sorted { ($1.responses, $0.host) < ($0.responses, $1.host) }
    for entry in most.prefix(Self.mostHosts) {
      try insertion.run(run, entry.host, ResponseTimesCoding.text(entry.times))
    }
  }

  package func segmentRuns(
    of identity: String,
    atMost limit: Int
  ) throws(Failure) -> [String: [SegmentRun]] {
    let rows = try database.rows(
      """
      SELECT name, state, items, changed, failed, id, finished FROM runs JOIN run_segments \
      USING (run) WHERE identity=\(identity) ORDER BY run DESC
      """
    )
    var runs: [String: [SegmentRun]] = [:]
    while try rows.step() {
      guard let state = SegmentState(rawValue: rows.text(1)),
        runs[rows.text(0)]?.count ?? 0 < limit
      else { continue }
      var segment = SegmentRun(
        name: rows.text(0),
        state: state,
        items: rows.number(2),
        changed: rows.number(3),
        failed: rows.number(4)
      )
      segment.run = rows.text(5)
      segment.finished = Instant(milliseconds: rows.number(6))
      runs[segment.name, default: []].append(segment)
    }
    return runs
  }

  /// Returns the end and the exit status, by name, of a segment's last run.
  package func lastEnd(of key: SegmentKey) throws(Failure) -> (at: Instant, exit: String)? {
    try database.rows(
      """
      SELECT finished, exit_name FROM runs JOIN run_segments USING (run) \
      WHERE identity=\(key.identity) AND name=\(key.name) ORDER BY run DESC LIMIT 1
      """
    ).all { row in (Instant(milliseconds: row.number(0)), row.text(1)) }.first
  }

  /// Returns response times of hosts in all stored runs, of one identity or, with nil, of all.
  package func responseTimes(of identity: String?) throws(Failure) -> [String: ResponseTimes] {
    let rows = try database.rows(
      """
      SELECT host, answers FROM runs JOIN run_hosts USING (run) \
      WHERE \(identity) IS NULL OR identity=\(identity)
      """
    )
    var times: [String: ResponseTimes] = [:]
    while try rows.step() {
      times[rows.text(0), default: ResponseTimes()].add(ResponseTimesCoding.times(rows.text(1)))
    }
    return times
  }

  /// Returns the end of the last earlier complete run with exit status 0.
  package func lastSuccess(of identity: String, before run: String) throws(Failure) -> Instant? {
    try database.number(
      """
      SELECT max(finished) FROM runs \
      WHERE identity=\(identity) AND mode='run' AND exit_code=0 AND NOT is_partial AND id<>\(run)
      """
    ).map(Instant.init(milliseconds:))
  }
}

/// Codes response counts as text, such as `93:4 101:12`.
private enum ResponseTimesCoding {
  static func text(_ times: ResponseTimes) -> String {
    times.counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
  }

  static func times(_ text: String) -> ResponseTimes {
    var counts: [Int: Int64] = [:]
    for part in text.split(separator: " ") {
      let numbers = part.split(separator: ":")
      guard numbers.count == 2, let index = Int(numbers[0]), let count = Int64(numbers[1]) else {
        continue
      }
      counts[index] = count
    }
    return ResponseTimes(counts: counts)
  }
}
