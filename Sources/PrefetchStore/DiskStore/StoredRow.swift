internal import PrefetchCore

/// A row of `items`, with what `item_times` knows better, as it lies there.
final class StoredRow: StoredAnswer {
  let url: String
  private let id: String?
  private let expiresAt: Instant?
  private let facts: [UInt8]
  /// What a later answer said of it.
  private let renewal: (freshness: Freshness, validatedAt: Instant?)?
  private let variance: [UInt8]?

  /// Of ``RecordRow/columns``.
  init(_ row: borrowing Statement) {
    url = row.text(1)
    id = row.optionalText(2)
    expiresAt = row.instant(3)
    facts = row.bytes(4)
    renewal = row.optionalNumber(5).map { kind in
      (Freshness(until: row.optionalNumber(6), kind: kind), row.instant(7))
    }
    variance = row.isNull(8) ? nil : row.bytes(8)
  }

  /// Where the caller needs no made id, `isNamed` false leaves it empty: the digest of a
  /// URL costs more than all the rest.
  func whole(isNamed: Bool = true) throws(Failure) -> ContentRecord {
    var record = ContentRecord(url: url, id: id ?? (isNamed ? ItemName.made(from: url) : ""))
    let isRead = unsafe facts.withUnsafeBytes { unsafe RecordRow.read($0.bytes, into: &record) }
    guard isRead else { throw RecordRow.damaged(of: url) }
    record.expiresAt = expiresAt
    if let renewal { (record.freshness, record.validatedAt) = renewal }
    if let variance {
      guard let read = AnswerCoding.decodeVariance(variance) else {
        throw RecordRow.damaged("variance", of: url)
      }
      record.variance = read
    }
    return record
  }

  var record: ContentRecord? {
    try? whole(isNamed: false)
  }

  var isPlain: Bool {
    guard variance == nil else { return false }
    return unsafe facts.withUnsafeBytes { unsafe RecordRow.isPlain($0.bytes) }
  }

  var confirmable: Confirmable? {
    unsafe facts.withUnsafeBytes { bytes in
      unsafe RecordRow.confirmable(bytes.bytes, validatedAt: renewal?.validatedAt)
    }
  }
}
