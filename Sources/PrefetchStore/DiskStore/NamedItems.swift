internal import PrefetchCore

/// Prepared lookups by URL: preparing a statement takes many times longer than running it.
final class NamedItems {
  private let records: Statement
  private let holders: Statement
  private let absences: Statement

  init(_ database: Database) {
    records = database.prepare(
      "SELECT \(RecordRow.columns) FROM \(RecordRow.source) WHERE url=?1"
    )
    holders = database.prepare(
      """
      SELECT identity, name FROM segments JOIN holder_sets USING (segment) \
      WHERE holders=(SELECT holders FROM items WHERE url=?1) ORDER BY identity, name
      """
    )
    absences = database.prepare("SELECT asked, status, since, until FROM absences WHERE url=?1")
  }

  func record(_ url: String) throws(Failure) -> ContentRecord? {
    try records.first(url) { row throws(Failure) in try StoredRow(row).whole() }
  }

  func segmentsHolding(_ url: String) throws(Failure) -> [SegmentKey] {
    try holders.all(url) { row in SegmentKey(identity: row.text(0), name: row.text(1)) }
  }

  func absence(_ url: String) throws(Failure) -> Absence? {
    try absences.first(url) { row in
      guard let since = row.instant(2), let until = row.instant(3) else { return nil }
      return Absence(
        requestHash: UInt64(bitPattern: row.number(0)),
        status: Int(row.number(1)),
        since: since,
        until: until
      )
    }
  }
}
