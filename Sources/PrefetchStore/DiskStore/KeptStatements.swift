internal import PrefetchCore

/// What a connection prepares once and uses over many calls.
struct KeptStatements {
  var writer: IndexWriter?
  var references: ObjectReferences?
  var records: RecordQuery?
}

extension DiskStore {
  func writer() throws(Failure) -> IndexWriter {
    if let writer = kept.writer { return writer }
    let writer = try IndexWriter(database())
    kept.writer = writer
    return writer
  }

  func references() throws(Failure) -> ObjectReferences {
    if let references = kept.references { return references }
    let references = try ObjectReferences(database())
    kept.references = references
    return references
  }

  func recordQuery() throws(Failure) -> RecordQuery {
    if let records = kept.records { return records }
    let records = try RecordQuery(database())
    kept.records = records
    return records
  }
}

/// Whether any row names an object.
final class ObjectReferences {
  /// Answered by the index over the beginnings of digests.
  static let namesDigest = "substr(digest, 1, 8)=substr(?1, 1, 8) AND digest=?1"

  private let statement: Statement

  init(_ database: Database) throws(Failure) {
    statement = try database.prepare(
      """
      SELECT EXISTS (SELECT 1 FROM items WHERE \(Self.namesDigest)) \
      OR EXISTS (SELECT 1 FROM segments WHERE manifest=?1)
      """
    )
  }

  func contains(_ digest: ContentDigest) throws(Failure) -> Bool {
    try statement.bind(1, digest)
    defer { statement.reset() }
    return try statement.step() && statement.flag(0)
  }
}

/// Whole records by their numbers.
final class RecordQuery {
  private let statement: Statement

  init(_ database: Database) throws(Failure) {
    statement = try database.prepare(
      "SELECT \(RecordRow.columns) FROM \(RecordRow.source) WHERE item=?1"
    )
  }

  /// `isNamed` as in ``RecordRow/read(_:isNamed:)``.
  func record(_ item: Int64, isNamed: Bool = true) throws(Failure) -> ContentRecord? {
    try statement.bind(1, item)
    defer { statement.reset() }
    return try statement.step() ? try RecordRow.read(statement, isNamed: isNamed) : nil
  }
}
