package import PrefetchCore

extension StateStore {
  /// Returns the bytes received in the month of a day, and recent measurements.
  package func networkMemory(of day: String, at now: Instant) throws(Failure) -> NetworkMemory {
    var memory = NetworkMemory()
    memory.usage = TransferUsage(try usage(of: String(day.prefix(7))))
    memory.samples = TransferSamples(try samples(at: now))
    return memory
  }

  private func usage(of month: String) throws(Failure) -> [TransferUsage.Key: Int64] {
    let rows = try database.rows(
      """
      SELECT day, network, identity, segment, bytes FROM transfer_usage \
      WHERE substr(day, 1, 7)=\(month)
      """
    )
    var bytes: [TransferUsage.Key: Int64] = [:]
    while try rows.step() {
      let key = TransferUsage.Key(
        day: rows.text(0),
        type: NetworkType(rawValue: rows.text(1)),
        segment: SegmentKey(identity: rows.text(2), name: rows.text(3))
      )
      bytes[key] = rows.number(4)
    }
    return bytes
  }

  /// Days of usage to keep: more than a month, for any time zone and a wrong clock.
  private static let daysOfUsage: Int64 = 100

  private func samples(at now: Instant) throws(Failure) -> [TransferSamples.Sample] {
    try database.rows(
      """
      SELECT network, began, ended, bytes, first_byte FROM transfer_samples \
      WHERE ended>\(now + (.zero - TransferSamples.memory)) AND ended<=\(now) ORDER BY sample
      """
    ).all { row in
      TransferSamples.Sample(
        type: NetworkType(rawValue: row.text(0)),
        began: Instant(milliseconds: row.number(1)),
        ended: Instant(milliseconds: row.number(2)),
        bytes: row.number(3),
        firstByte: row.optionalNumber(4).map { .milliseconds($0) }
      )
    }
  }

  /// Adds usage and measurements, deletes old ones, and returns the month's usage of all runs.
  package func recordNetwork(_ news: NetworkMemory) throws(Failure) -> TransferUsage {
    try database.transaction { () throws(Failure) in
      try add(news.usage)
      try add(news.samples)
      guard let latest = news.usage.bytes.keys.map(\.day).max() else { return TransferUsage() }
      return TransferUsage(try usage(of: String(latest.prefix(7))))
    }
  }

  private func add(_ usage: TransferUsage) throws(Failure) {
    guard !usage.bytes.isEmpty else { return }
    let addition = database.prepare(
      """
      INSERT INTO transfer_usage (day, network, identity, segment, bytes) \
      VALUES (?1, ?2, ?3, ?4, ?5) \
      ON CONFLICT (day, network, identity, segment) DO UPDATE SET bytes=bytes+?5
      """
    )
    for (key, bytes) in usage.bytes {
      try addition.run(
        key.day,
        key.type?.rawValue ?? "",
        key.segment.identity,
        key.segment.name,
        bytes
      )
    }
    // Counts days, not dates: a clock that was ahead once must not delete today's usage.
    try database.run(
      """
      DELETE FROM transfer_usage WHERE day NOT IN \
      (SELECT DISTINCT day FROM transfer_usage ORDER BY day DESC LIMIT \(Self.daysOfUsage))
      """
    )
  }

  private func add(_ samples: TransferSamples) throws(Failure) {
    guard let latest = samples.all.map(\.ended).max() else { return }
    let insertion = database.prepare(
      """
      INSERT INTO transfer_samples (network, began, ended, bytes, first_byte) \
      VALUES (?1, ?2, ?3, ?4, ?5)
      """
    )
    for sample in samples.all {
      try insertion.run(
        sample.type?.rawValue ?? "",
        sample.began,
        sample.ended,
        sample.bytes,
        sample.firstByte?.milliseconds
      )
    }
    try database.run(
      "DELETE FROM transfer_samples WHERE ended<=\(latest + (.zero - TransferSamples.memory))"
    )
  }
}
