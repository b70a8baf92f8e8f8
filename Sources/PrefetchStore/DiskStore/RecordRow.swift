internal import PrefetchCore

/// A content record as rows of `items`, `item_times` and `item_details`, both ways.
enum RecordRow {
  /// The columns in the order that ``read(_:)`` expects, the item's number first.
  static let columns =
    """
    item, url, id, state, digest, size, etag, details, fetched_at, validated_at, fresh_until, \
    freshness, expires_at, description, other_digests, \
    CASE variance WHEN 0 THEN NULL ELSE \
    (SELECT hops FROM variances WHERE variances.variance=items.variance) END, provider, type
    """

  /// Where they come from; rows follow the order of `items`.
  static let source =
    "items CROSS JOIN item_times USING (item) CROSS JOIN item_details USING (item)"

  /// Where nobody needs an id that has to be made, `isNamed` false leaves it empty: the digest of a
  /// URL costs more than all the rest.
  static func read(
    _ row: borrowing Statement,
    isNamed: Bool = true
  ) throws(Failure) -> ContentRecord {
    let url = row.text(1)
    let id = row.optionalText(2) ?? (isNamed ? ItemName.made(from: url) : "")
    var record = ContentRecord(url: url, id: id)
    guard let state = state(row, 3) else { throw damaged("state", of: record.url) }
    record.state = state
    record.digest = row.optionalDigest(4)
    guard record.digest != nil || row.isNull(4) else { throw damaged("digest", of: record.url) }
    record.size = row.number(5)
    record.validators.entityTag = row.optionalText(6)
    let isRead = unsafe row.withBytes(7) { bytes in
      unsafe DetailsCoding.decode(bytes.bytes, into: &record)
    }
    record.provider = row.optionalText(16)
    record.type = row.optionalText(17)
    guard isRead else { throw damaged("details", of: record.url) }
    record.fetchedAt = row.instant(8)
    record.validatedAt = row.instant(9)
    record.freshness = Freshness(until: row.optionalNumber(10), kind: row.number(11))
    record.expiresAt = row.instant(12)
    record.description = UInt64(bitPattern: row.number(13))
    if !row.isNull(14) {
      let digests = unsafe row.withBytes(14) { bytes in unsafe DigestCoding.decode(bytes.bytes) }
      guard let digests else { throw damaged("digests", of: record.url) }
      record.otherDigests = digests
    }
    if !row.isNull(15) {
      guard let variance = AnswerCoding.decodeVariance(row.bytes(15)) else {
        throw damaged("variance", of: record.url)
      }
      record.variance = variance
    }
    return record
  }

  /// Most are `cached`, which needs no string.
  static func state(_ row: borrowing Statement, _ column: Int32) -> ItemState? {
    row.holds(column, "cached") ? .cached : ItemState(rawValue: row.text(column))
  }

  static func damaged(_ column: String, of url: String) -> Failure {
    Failure(.storeDamaged, "the index holds an impossible `\(column)` for `\(url)`")
  }
}

/// Digests besides SHA-256 as one value of a row: for each a byte that names the algorithm, then
/// as many bytes as it makes.
enum DigestCoding {
  /// Nil for none.
  static func encode(_ digests: [DigestAlgorithm: [UInt8]]) -> [UInt8]? {
    var bytes: [UInt8] = []
    for (code, algorithm) in algorithms.enumerated() {
      guard let digest = digests[algorithm], digest.count == algorithm.byteCount else { continue }
      bytes.append(UInt8(code))
      bytes += digest
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Nil for bytes that `encode` never makes.
  static func decode(_ bytes: RawSpan) -> [DigestAlgorithm: [UInt8]]? {
    var digests: [DigestAlgorithm: [UInt8]] = [:]
    var offset = 0
    while offset < bytes.byteCount {
      let code = Int(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      guard algorithms.indices.contains(code) else { return nil }
      let end = offset + 1 + algorithms[code].byteCount
      guard end <= bytes.byteCount else { return nil }
      digests[algorithms[code]] = unsafe bytes.extracting(offset + 1..<end).withUnsafeBytes {
        unsafe Array($0)
      }
      offset = end
    }
    return digests
  }

  /// Stored by position: only ever append.
  private static let algorithms: [DigestAlgorithm] = [
    .md5, .sha1, .sha256, .sha384, .sha512, .goZip, .goMod,
  ]
}
