internal import PrefetchCore

/// A content record as rows of `items`, `item_times` and `item_details`, both ways.
enum RecordRow {
  /// The columns in the order that ``read(_:)`` expects, the item's number first.
  static let columns =
    """
    item, url, id, provider, type, state, digest, size, mime, status, headers, etag, \
    last_modified, final_url, fetched_at, validated_at, fresh_until, expires_at, failure_code, \
    failure_message, failure_transient, description, other_digests, freshness, item_details.hops, \
    CASE variance WHEN 0 THEN NULL ELSE \
    (SELECT hops FROM variances WHERE variances.variance=items.variance) END, ttl
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
    record.provider = row.optionalText(3)
    record.type = row.optionalText(4)
    guard let state = state(row, 5) else { throw damaged("state", of: record.url) }
    record.state = state
    record.digest = row.optionalDigest(6)
    guard record.digest != nil || row.isNull(6) else { throw damaged("digest", of: record.url) }
    record.size = row.number(7)
    record.mime = row.optionalText(8)
    record.status = row.optionalNumber(9).map(Int.init)
    let headers = unsafe row.withBytes(10) { bytes in unsafe HeaderCoding.decode(bytes.bytes) }
    guard let headers else { throw damaged("headers", of: record.url) }
    record.headers = headers
    record.validators.entityTag = row.optionalText(11)
    record.validators.lastModified = row.optionalText(12)
    record.finalURL = row.optionalText(13)
    record.fetchedAt = row.instant(14)
    record.validatedAt = row.instant(15)
    record.freshness = Freshness(until: row.optionalNumber(16), kind: row.number(23))
    record.expiresAt = row.instant(17)
    if let code = row.optionalText(18) {
      guard let code = ErrorCode(rawValue: code) else { throw damaged("failure", of: record.url) }
      record.failure = Failure(code, row.text(19), isTransient: row.flag(20))
    }
    record.description = UInt64(bitPattern: row.number(21))
    if !row.isNull(22) {
      let digests = unsafe row.withBytes(22) { bytes in unsafe DigestCoding.decode(bytes.bytes) }
      guard let digests else { throw damaged("digests", of: record.url) }
      record.otherDigests = digests
    }
    record.lifetime = row.optionalNumber(26).map(lifetime)
    if !row.isNull(24) {
      guard let hops = AnswerCoding.decodeHops(row.bytes(24)) else {
        throw damaged("hops", of: record.url)
      }
      record.hops = hops
    }
    if !row.isNull(25) {
      guard let variance = AnswerCoding.decodeVariance(row.bytes(25)) else {
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

  /// As milliseconds; negative where there is no end.
  static func number(_ lifetime: Freshness.Lifetime?) -> Int64? {
    switch lifetime {
    case nil: nil
    case .immutable: -1
    case .atMost(let bound): max(0, bound.milliseconds)
    }
  }

  private static func lifetime(_ number: Int64) -> Freshness.Lifetime {
    number < 0 ? .immutable : .atMost(.milliseconds(number))
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
