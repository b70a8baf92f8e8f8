package import PrefetchCore

extension DiskStore {
  package func segments() throws(Failure) -> [SegmentRecord] {
    try withBackup { () throws(Failure) in
      let database = try database()
      return try database.reading { () throws(Failure) in
        let rows = database.prepare(
          "SELECT \(SegmentRow.columns) FROM segments ORDER BY identity, name"
        )
        var segments: [SegmentRecord] = []
        var documents = try DocumentRow.bySegment(database)
        while try rows.step() {
          var record = try SegmentRow.read(rows)
          record.documents = documents.removeValue(forKey: rows.number(0)) ?? []
          segments.append(record)
        }
        return segments
      }
    }
  }

  package func record(url: String) throws(Failure) -> ContentRecord? {
    try withBackup { () throws(Failure) in try namedItems().record(url) }
  }

  package func record(item: Int64) throws(Failure) -> ContentRecord? {
    try withBackup { () throws(Failure) in try recordQuery().record(item) }
  }

  /// Returns records by URL, by id (which several providers may share) or by `PROVIDER/ID`.
  package func records(named name: String) throws(Failure) -> [ContentRecord] {
    let exact = try records(where: "url", is: name)
    guard exact.isEmpty else { return exact }
    let ads = try ads(ofTag: name)
    guard ads.isEmpty else { return ads }
    let found = try records(id: name)
    guard found.isEmpty, let slash = name.firstIndex(of: "/") else { return found }
    let provider = name[..<slash]
    return try records(id: String(name[name.index(after: slash)...])).filter {
      $0.provider.map { $0 == provider } ?? false
    }
  }

  func ads(ofTag tag: String) throws(Failure) -> [ContentRecord] {
    guard tag.hasPrefix("http") else { return [] }
    let rows = try database().prepare(
      "SELECT item FROM items WHERE url>='\(AdSpace.scheme)' AND url<'vast;'"
    )
    var found: [ContentRecord] = []
    while try rows.step() {
      guard let record = try recordQuery().record(rows.number(0)), record.address == tag else {
        continue
      }
      found.append(record)
    }
    return found
  }

  /// Returns records by id, of one provider; with nil, of items without a provider.
  func records(provider: String?, id: String) throws(Failure) -> [ContentRecord] {
    try records(id: id).filter { $0.provider == provider }
  }

  private func records(id: String) throws(Failure) -> [ContentRecord] {
    var found = try records(where: "id", is: id)
    for item in try items(madeName: id) {
      guard let record = try recordQuery().record(item) else { continue }
      found.append(record)
    }
    return found.sorted { $0.url.utf8.lexicographicallyPrecedes($1.url.utf8) }
  }

  /// Returns items without a stored id whose URL gives this id.
  private func items(madeName name: String) throws(Failure) -> [Int64] {
    guard ItemName.couldBeMade(name) else { return [] }
    let rows = try database().prepare(
      "SELECT item, url FROM items WHERE id IS NULL"
    )
    var items: [Int64] = []
    while try rows.step() {
      guard ItemName.made(from: rows.text(1)) == name else { continue }
      items.append(rows.number(0))
    }
    return items
  }

  package func segmentsHolding(url: String) throws(Failure) -> [SegmentKey] {
    try withBackup { () throws(Failure) in try namedItems().segmentsHolding(url) }
  }

  /// Returns items of the segments whose bodies other processes removed during this run.
  package func emptied(
    of keys: [SegmentKey]
  ) throws(Failure) -> [(key: SegmentKey, url: String)] {
    try withBackup { () throws(Failure) in
      let rows = try database().prepare(
        """
        SELECT items.url, item FROM released_items JOIN items USING (item) \
        JOIN holder_sets ON holder_sets.holders=items.holders JOIN segments USING (segment) \
        WHERE identity=?1 AND name=?2 AND items.mark IS NULL \
        AND released_items.mark IS NOT NULL ORDER BY item
        """
      )
      var empty: [(key: SegmentKey, url: String)] = []
      for key in keys {
        try rows.set(key.identity, key.name)
        while try rows.step() {
          let isOwn = try writer().ownReleases.contains(rows.number(1))
          if !isOwn { empty.append((key, rows.text(0))) }
        }
        rows.reset()
      }
      for url in try writer().lost.sorted() {
        let holders = try namedItems().segmentsHolding(url)
        empty += keys.filter(holders.contains).map { ($0, url) }
      }
      return empty
    }
  }

  private func records(where column: String, is name: String) throws(Failure) -> [ContentRecord] {
    try withBackup { () throws(Failure) in
      try database().rows(
        """
        SELECT \(raw: RecordRow.columns) FROM \(raw: RecordRow.source) \
        WHERE \(raw: column)=\(name) ORDER BY url
        """
      ).all { row throws(Failure) in try StoredRow(row).whole() }
    }
  }
}
