internal import PrefetchCore

/// A content record as a row of `items`, both ways.
enum RecordRow {
  /// The columns in the order that ``read(_:)`` expects, the item's number first.
  static let columns =
    """
    item, url, id, provider, type, state, digest, size, mime, status, headers, etag, \
    last_modified, final_url, fetched_at, validated_at, fresh_until, expires_at, failure_code, \
    failure_message, failure_transient
    """

  static let insertion =
    """
    INSERT INTO items (url, id, provider, type, state, digest, size, mime, status, headers, etag, \
    last_modified, final_url, fetched_at, validated_at, fresh_until, expires_at, failure_code, \
    failure_message, failure_transient) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
    ?20)
    """

  static let update =
    """
    UPDATE items SET id=?2, provider=?3, type=?4, state=?5, digest=?6, size=?7, mime=?8, \
    status=?9, headers=?10, etag=?11, last_modified=?12, final_url=?13, fetched_at=?14, \
    validated_at=?15, fresh_until=?16, expires_at=?17, failure_code=?18, failure_message=?19, \
    failure_transient=?20 WHERE url=?1
    """

  static func bind(_ record: ContentRecord, to statement: borrowing Statement) throws(Failure) {
    try statement.bind(1, record.url)
    try statement.bind(2, record.id)
    try statement.bind(3, record.provider)
    try statement.bind(4, record.type)
    try statement.bind(5, record.state.rawValue)
    try statement.bind(6, record.digest)
    try statement.bind(7, record.size)
    try statement.bind(8, record.mime)
    try statement.bind(9, record.status)
    try statement.bind(10, HeaderCoding.encode(record.headers))
    try statement.bind(11, record.validators.entityTag)
    try statement.bind(12, record.validators.lastModified)
    try statement.bind(13, record.finalURL)
    try statement.bind(14, record.fetchedAt)
    try statement.bind(15, record.validatedAt)
    try statement.bind(16, record.freshUntil)
    try statement.bind(17, record.expiresAt)
    try statement.bind(18, record.failure?.code.rawValue)
    try statement.bind(19, record.failure?.message)
    try statement.bind(20, record.failure?.isTransient ?? false)
  }

  static func read(_ row: borrowing Statement) throws(Failure) -> ContentRecord {
    var record = ContentRecord(url: row.text(1), id: row.text(2))
    record.provider = row.optionalText(3)
    record.type = row.optionalText(4)
    guard let state = ItemState(rawValue: row.text(5)) else {
      throw damaged("state", of: record.url)
    }
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
    record.freshUntil = row.instant(16)
    record.expiresAt = row.instant(17)
    if let code = row.optionalText(18) {
      guard let code = ErrorCode(rawValue: code) else { throw damaged("failure", of: record.url) }
      record.failure = Failure(code, row.text(19), isTransient: row.flag(20))
    }
    return record
  }

  private static func damaged(_ column: String, of url: String) -> Failure {
    Failure(.storeDamaged, "the index holds an impossible `\(column)` for `\(url)`")
  }
}
