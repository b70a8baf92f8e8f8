package import PrefetchCore

/// A record of a manifest's further document as a row of `segment_documents`, both ways.
enum DocumentRow {
  static let insertion =
    """
    INSERT INTO segment_documents (segment, position, url, final_url, etag, last_modified, digest, \
    generated, is_signature, asked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    """

  static func bind(_ record: DocumentRecord, to statement: borrowing Statement) throws(Failure) {
    try statement.bind(3, record.url)
    try statement.bind(4, record.finalURL)
    try statement.bind(5, record.validators.entityTag)
    try statement.bind(6, record.validators.lastModified)
    try statement.bind(7, record.digest)
    try statement.bind(8, record.generated)
    try statement.bind(9, record.isSignature)
    try statement.bind(10, record.asked.map { Int64(bitPattern: $0) })
  }

  /// Everything there is, by the numbers of the segments.
  static func bySegment(_ database: Database) throws(Failure) -> [Int64: [DocumentRecord]] {
    let rows = try database.prepare(
      """
      SELECT segment, url, final_url, etag, last_modified, digest, generated, is_signature, \
      asked FROM segment_documents ORDER BY segment, position
      """
    )
    var documents: [Int64: [DocumentRecord]] = [:]
    while try rows.step() {
      guard let digest = rows.optionalDigest(5) else {
        throw Failure(.storeDamaged, "the index holds an impossible digest for `\(rows.text(1))`")
      }
      var record = DocumentRecord(url: rows.text(1), digest: digest)
      record.finalURL = rows.optionalText(2)
      record.validators.entityTag = rows.optionalText(3)
      record.validators.lastModified = rows.optionalText(4)
      record.generated = rows.instant(6)
      record.isSignature = rows.flag(7)
      record.asked = rows.optionalNumber(8).map { UInt64(bitPattern: $0) }
      documents[rows.number(0), default: []].append(record)
    }
    return documents
  }
}

extension DiskStore {
  package func document(at url: String, asked: UInt64) throws(Failure) -> DocumentRecord? {
    let rows = try database().prepare(
      """
      SELECT final_url, etag, last_modified, digest FROM (\
      SELECT manifest_final_url AS final_url, etag, last_modified, manifest AS digest, last_checked \
      FROM segments WHERE manifest_url=?1 AND asked=?2 AND manifest IS NOT NULL UNION ALL \
      SELECT d.final_url, d.etag, d.last_modified, d.digest, last_checked \
      FROM segment_documents AS d JOIN segments USING (segment) WHERE d.url=?1 AND d.asked=?2) \
      ORDER BY last_checked DESC LIMIT 1
      """
    )
    try rows.bind(1, url)
    try rows.bind(2, Int64(bitPattern: asked))
    guard try rows.step(), let digest = rows.optionalDigest(3) else { return nil }
    var record = DocumentRecord(url: url, digest: digest)
    record.finalURL = rows.optionalText(0)
    record.validators.entityTag = rows.optionalText(1)
    record.validators.lastModified = rows.optionalText(2)
    record.asked = asked
    return record
  }
}

/// The documents of segments, with statements that are kept.
final class DocumentRows {
  private let list: Statement
  private let insert: Statement
  private let delete: Statement

  init(_ database: Database) throws(Failure) {
    list = try database.prepare("SELECT digest FROM segment_documents WHERE segment=?1")
    insert = try database.prepare(DocumentRow.insertion)
    delete = try database.prepare("DELETE FROM segment_documents WHERE segment=?1")
  }

  func digests(of segment: Int64) throws(Failure) -> Set<ContentDigest> {
    try list.bind(1, segment)
    defer { list.reset() }
    var digests: Set<ContentDigest> = []
    while try list.step() {
      if let digest = list.optionalDigest(0) { digests.insert(digest) }
    }
    return digests
  }

  func replace(of segment: Int64, with records: [DocumentRecord]) throws(Failure) {
    try delete.bind(1, segment)
    try delete.run()
    try insert.bind(1, segment)
    for (position, record) in records.enumerated() {
      try insert.bind(2, position)
      try DocumentRow.bind(record, to: insert)
      try insert.run()
    }
  }
}
