package import PrefetchCore

/// Reads the records of a manifest's further documents from `segment_documents`.
enum DocumentRow {
  static func bySegment(_ database: Database) throws(Failure) -> [Int64: [DocumentRecord]] {
    let rows = database.prepare(
      """
      SELECT segment, url, final_url, etag, last_modified, digest, generated, is_signature, \
      asked FROM segment_documents ORDER BY segment, position
      """
    )
    var documents: [Int64: [DocumentRecord]] = [:]
    while try rows.step() {
      var record = DocumentRecord(url: rows.text(1), digest: try rows.digest(5, of: rows.text(1)))
      record.finalURL = rows.optionalText(2)
      record.validators.entityTag = rows.optionalText(3)
      record.validators.lastModified = rows.optionalText(4)
      record.generated = rows.instant(6)
      record.isSignature = rows.flag(7)
      record.requestHash = rows.optionalNumber(8).map { UInt64(bitPattern: $0) }
      documents[rows.number(0), default: []].append(record)
    }
    return documents
  }
}

extension DiskStore {
  package func document(at url: String, requestHash: UInt64) throws(Failure) -> DocumentRecord? {
    let rows = try database().rows(
      """
      SELECT final_url, etag, last_modified, digest FROM ( \
      SELECT manifest_final_url AS final_url, etag, last_modified, manifest AS digest, \
      last_checked \
      FROM segments WHERE manifest_url=\(url) AND asked=\(requestHash) AND manifest IS NOT NULL UNION \
      ALL \
      SELECT d.final_url, d.etag, d.last_modified, d.digest, last_checked \
      FROM segment_documents AS d JOIN segments USING (segment) WHERE d.url=\(url) AND \
      d.asked=\(requestHash)) \
      ORDER BY last_checked DESC LIMIT 1
      """
    )
    guard try rows.step(), let digest = rows.optionalDigest(3) else { return nil }
    var record = DocumentRecord(url: url, digest: digest)
    record.finalURL = rows.optionalText(0)
    record.validators.entityTag = rows.optionalText(1)
    record.validators.lastModified = rows.optionalText(2)
    record.requestHash = requestHash
    return record
  }
}

final class DocumentRows {
  private let list: Statement
  private let insert: Statement
  private let delete: Statement

  init(_ database: Database) {
    list = database.prepare("SELECT digest FROM segment_documents WHERE segment=?1")
    insert = database.prepare(
      """
      INSERT INTO segment_documents (segment, position, url, final_url, etag, last_modified, \
      digest, generated, is_signature, asked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      """
    )
    delete = database.prepare("DELETE FROM segment_documents WHERE segment=?1")
  }

  func digests(of segment: Int64) throws(Failure) -> Set<ContentDigest> {
    Set(try list.all(segment) { row in row.optionalDigest(0) })
  }

  func replace(of segment: Int64, with records: [DocumentRecord]) throws(Failure) {
    try delete.run(segment)
    for (position, record) in records.enumerated() {
      try insert.run(
        segment,
        position,
        record.url,
        record.finalURL.map(SealedURL.text),
        record.validators.entityTag,
        record.validators.lastModified,
        record.digest,
        record.generated,
        record.isSignature,
        record.requestHash
      )
    }
  }
}
