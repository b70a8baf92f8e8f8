internal import PrefetchCore

/// A row of `items` with the newer times of `item_times`, decoded on demand.
final class StoredRow: StoredResponse {
  let url: String
  private let id: String?
  private let expiresAt: Instant?
  private let facts: [UInt8]
  private let renewal: (freshness: Freshness, validatedAt: Instant?)?
  private let variance: [UInt8]?

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

  /// Decodes the record; with `isNamed` false a missing id stays empty, since making ids is slow.
  func whole(isNamed: Bool = true) throws(Failure) -> ContentRecord {
    var record = ContentRecord(url: url, id: id ?? (isNamed ? ItemName.made(from: url) : ""))
    let isRead = unsafe facts.withUnsafeBytes { unsafe RecordRow.read($0.bytes, into: &record) }
    guard isRead else { throw RecordRow.damaged(of: url) }
    record.expiresAt = expiresAt
    if let renewal { (record.freshness, record.validatedAt) = renewal }
    if let variance {
      guard let read = ResponseTermsCoding.decodeVariance(variance) else {
        throw RecordRow.damaged("variance", of: url)
      }
      record.variance = read
    }
    return record
  }

  var record: ContentRecord? {
    try? whole(isNamed: false)
  }

  var suitsSimpleItem: Bool {
    guard variance == nil else { return false }
    return unsafe facts.withUnsafeBytes { unsafe RecordRow.suitsSimpleItem($0.bytes) }
  }

  var confirmable: Confirmable? {
    unsafe facts.withUnsafeBytes { bytes in
      unsafe RecordRow.confirmable(bytes.bytes, validatedAt: renewal?.validatedAt)
    }
  }
}
