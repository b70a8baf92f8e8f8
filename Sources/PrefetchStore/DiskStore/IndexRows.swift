internal import PrefetchCore

/// The rows of an index that have codes of their own, whose damage SQLite cannot see.
enum IndexRows {
  /// Throws when a query would fail at a row.
  static func check(_ database: Database) throws(Failure) {
    let variances = try VarianceLists(database)
    let items = database.prepare("SELECT facts, url, variance FROM items")
    while try items.step() {
      _ = try items.wholeHead(0, of: items.text(1))
      _ = try variances.position(of: items.number(2), for: items)
    }
    let files = database.prepare("SELECT digest, url FROM item_files JOIN items USING (item)")
    while try files.step() { _ = try files.digest(0, of: files.text(1)) }
    let segments = database.prepare("SELECT \(SegmentRow.columns) FROM segments")
    while try segments.step() { _ = try SegmentRow.read(segments) }
    _ = try DocumentRow.bySegment(database)
    _ = try varianceKey(database)
  }

  static func varianceKey(_ database: Database) throws(Failure) -> VarianceKey {
    let row = database.prepare("SELECT variance_key FROM upkeep")
    guard try row.step(), let key = VarianceKey(row.bytes(0)) else {
      throw Failure(.storeDamaged, "the index has lost the key of its header digests")
    }
    return key
  }
}

extension Statement {
  func digest(_ index: Int32, of url: @autoclosure () -> String) throws(Failure) -> ContentDigest {
    guard let digest = optionalDigest(index) else { throw RecordRow.damaged("digest", of: url()) }
    return digest
  }
}
