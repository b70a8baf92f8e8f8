internal import PrefetchCore

/// Items by their URLs, for those who ask about thousands one by one: to prepare a question takes
/// many times longer than to answer it.
final class NamedItems {
  private let records: Statement
  private let holders: Statement
  private let absences: Statement

  init(_ database: Database) throws(Failure) {
    records = try database.prepare(
      "SELECT \(RecordRow.columns) FROM \(RecordRow.source) WHERE url=?1"
    )
    holders = try database.prepare(
      """
      SELECT identity, name FROM segments JOIN holder_sets USING (segment) \
      WHERE holders=(SELECT holders FROM items WHERE url=?1) ORDER BY identity, name
      """
    )
    absences = try database.prepare("SELECT asked, status, since FROM absences WHERE url=?1")
  }

  func record(_ url: String) throws(Failure) -> ContentRecord? {
    try records.bind(1, url)
    defer { records.reset() }
    return try records.step() ? try StoredRow(records).whole() : nil
  }

  func segmentsHolding(_ url: String) throws(Failure) -> [SegmentKey] {
    try holders.bind(1, url)
    defer { holders.reset() }
    var keys: [SegmentKey] = []
    while try holders.step() {
      keys.append(SegmentKey(identity: holders.text(0), name: holders.text(1)))
    }
    return keys
  }

  func absence(_ url: String) throws(Failure) -> Absence? {
    try absences.bind(1, url)
    defer { absences.reset() }
    guard try absences.step(), let since = absences.instant(2) else { return nil }
    return Absence(
      asked: UInt64(bitPattern: absences.number(0)),
      status: Int(absences.number(1)),
      since: since
    )
  }
}
