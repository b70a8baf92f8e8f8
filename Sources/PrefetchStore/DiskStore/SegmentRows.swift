internal import PrefetchCore

final class SegmentRows {
  private let database: Database
  private let find: Statement
  private let replace: Statement
  private let delete: Statement
  private let names: Statement
  private let endQuiet: Statement
  private var numbers: [SegmentKey: Int64] = [:]

  init(_ database: Database) {
    self.database = database
    find = database.prepare(
      "SELECT segment, manifest, state<>'unsubscribed' FROM segments WHERE identity=?1 AND name=?2"
    )
    replace = database.prepare(SegmentRow.replacement)
    delete = database.prepare("DELETE FROM segments WHERE segment=?1")
    names = database.prepare("SELECT identity, name FROM segments WHERE segment=?1")
    endQuiet = database.prepare(
      """
      UPDATE segments SET quiet_until=NULL, quiet_rules=NULL, quiet_items=NULL, quiet_bytes=NULL \
      WHERE segment=?1 AND quiet_until IS NOT NULL
      """
    )
  }

  func begin() {
    numbers = [:]
  }

  func find(
    _ key: SegmentKey
  ) throws(Failure) -> (number: Int64, manifest: ContentDigest?, isSubscribed: Bool)? {
    try find.first(key.identity, key.name) { row in
      (row.number(0), row.optionalDigest(1), row.flag(2))
    }
  }

  func number(of key: SegmentKey) throws(Failure) -> Int64? {
    if let known = numbers[key] { return known }
    guard let number = try find(key)?.number else { return nil }
    numbers[key] = number
    return number
  }

  func makingNumber(of key: SegmentKey) throws(Failure) -> Int64 {
    if let known = try number(of: key) { return known }
    try write(SegmentRecord(key: key))
    guard let made = try number(of: key) else {
      throw Failure(.internal, "segment `\(key.name)` was not written")
    }
    return made
  }

  func key(of segment: Int64) throws(Failure) -> SegmentKey? {
    try names.first(segment) { row in SegmentKey(identity: row.text(0), name: row.text(1)) }
  }

  func write(_ record: SegmentRecord) throws(Failure) {
    try SegmentRow.bind(record, to: replace)
    try replace.run()
  }

  func delete(_ segment: Int64) throws(Failure) {
    try delete.run(segment)
    numbers = [:]
  }

  func endQuiet(of segment: Int64) throws(Failure) {
    try endQuiet.run(segment)
  }
}
