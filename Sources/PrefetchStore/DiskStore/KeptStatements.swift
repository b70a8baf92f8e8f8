internal import PrefetchCore

struct KeptStatements {
  var writer: IndexWriter?
  var references: ObjectReferences?
  var records: RecordQuery?
  var names: NamedItems?
  var files: KnownFiles?
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

  func namedItems() throws(Failure) -> NamedItems {
    if let names = kept.names { return names }
    let names = try NamedItems(database())
    kept.names = names
    return names
  }

  func recordQuery() throws(Failure) -> RecordQuery {
    if let records = kept.records { return records }
    let records = try RecordQuery(database())
    kept.records = records
    return records
  }
}

final class ObjectReferences {
  /// SQL condition on `items`; the parameters are the digest and its mark.
  static let namesDigest = "mark=?2 AND substr(facts, 1, \(ItemHead.digestLength))=?1"

  private let statement: Statement

  init(_ database: Database) {
    statement = database.prepare(
      """
      SELECT EXISTS (SELECT 1 FROM items WHERE \(Self.namesDigest)) \
      OR EXISTS (SELECT 1 FROM segments WHERE manifest=?1) \
      OR EXISTS (SELECT 1 FROM segment_documents WHERE digest=?1) \
      OR EXISTS (SELECT 1 FROM item_files WHERE digest=?1)
      """
    )
  }

  func contains(_ digest: ContentDigest) throws(Failure) -> Bool {
    try statement.first(digest, digest.mark) { row in row.flag(0) } == true
  }
}

final class RecordQuery {
  /// Widest gap between two item numbers that one pass reads across.
  private static let widestGap: Int64 = 4

  private let one: Statement
  private let range: Statement

  init(_ database: Database) {
    let source = "SELECT \(RecordRow.columns) FROM \(RecordRow.source)"
    one = database.prepare("\(source) WHERE item=?1")
    range = database.prepare("\(source) WHERE item BETWEEN ?1 AND ?2 ORDER BY item")
  }

  func record(_ item: Int64, isNamed: Bool = true) throws(Failure) -> ContentRecord? {
    try one.first(item) { row throws(Failure) in try StoredRow(row).whole(isNamed: isNamed) }
  }

  func rows(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?] {
    var rows = [(any StoredResponse)?](repeating: nil, count: items.count)
    // Items requested together were mostly stored together, but in another order.
    let positions = items.indices.sorted { items[$0] < items[$1] }
    var start = 0
    while start < positions.count {
      var end = start + 1
      while end < positions.count,
        items[positions[end]] - items[positions[end - 1]] <= Self.widestGap
      {
        end += 1
      }
      try read(items, at: positions[start..<end], into: &rows)
      start = end
    }
    return rows
  }

  private func read(
    _ items: [Int64],
    at positions: ArraySlice<Int>,
    into rows: inout [(any StoredResponse)?]
  ) throws(Failure) {
    guard let first = positions.first, let last = positions.last else { return }
    try range.set(items[first], items[last])
    defer { range.reset() }
    var hasRow = try range.step()
    var read: Int?
    for position in positions {
      while hasRow, range.number(0) < items[position] { hasRow = try range.step() }
      guard hasRow, range.number(0) == items[position] else { continue }
      // A number may occur twice.
      if let read, items[read] == items[position] {
        rows[position] = rows[read]
      } else {
        rows[position] = StoredRow(range)
      }
      read = position
    }
  }
}
