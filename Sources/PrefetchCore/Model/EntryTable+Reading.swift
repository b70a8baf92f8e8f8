// MARK: - Columns

extension EntryTable {
  package func key(at position: Int) -> URLKey {
    keys[position]
  }

  package func position(of key: URLKey) -> Int? {
    index.position(of: key) { keys[$0] }
  }

  package func size(at position: Int) -> Int64? {
    rows[position].size < 0 ? nil : rows[position].size
  }

  package var sizes: (known: Int64, unknown: Int) {
    var (known, unknown) = (Int64(0), 0)
    for row in rows {
      if row.size < 0 { unknown += 1 } else { known = known.addingSaturated(row.size) }
    }
    return (known, unknown)
  }

  package func columnDigest(at position: Int) -> ContentDigest? {
    guard !hasExtras(at: position), position < digests.count, !digests[position].isNone else {
      return nil
    }
    return digests[position]
  }

  /// Returns the entry's number in ``metadataTable``; 0 for an entry kept whole.
  func metadata(at position: Int) -> UInt16 {
    rows[position].metadata
  }

  /// Whether the entry declares more than a row and its SHA-256, and so needs storage beside them.
  package func hasExtras(at position: Int) -> Bool {
    rows[position].extra != 0
  }

  package func origin(at position: Int) -> WebURL {
    origins.urls[originNumber(at: position)]
  }

  package func authority(at position: Int) -> String {
    origin(at: position).authority
  }

  package func originNumber(at position: Int) -> Int {
    Int(rows[position].origin)
  }

  package var allOrigins: [WebURL] {
    origins.urls
  }

  package func url(at position: Int) -> String {
    let row = rows[position]
    if row.extra > 0 { return special[Int(row.extra) - 1].recordURL }
    return WebURL.text(origins.prefix(Int(row.origin)), target(of: row))
  }

  private func target(of row: Row) -> ArraySlice<UInt8> {
    text[row.start..<row.start + Int(row.length)]
  }

  package func type(at position: Int) -> String? {
    let row = rows[position]
    return row.extra > 0 ? special[Int(row.extra) - 1].type : metadataTable.type(row.metadata)
  }

  package func provider(at position: Int) -> String? {
    let row = rows[position]
    return row.extra > 0
      ? special[Int(row.extra) - 1].provider : metadataTable.provider(row.metadata)
  }

  package func mediaType(at position: Int) -> String? {
    let row = rows[position]
    return row.extra > 0 ? special[Int(row.extra) - 1].mime : metadataTable.mediaType(row.metadata)
  }

  /// Returns the stored id: the declared one, or for an entry kept whole perhaps a made one.
  package func id(at position: Int) -> String? {
    let row = rows[position]
    return row.extra > 0 ? special[Int(row.extra) - 1].id : id(of: row)
  }

  package func hasMediaType(at position: Int) -> Bool {
    let row = rows[position]
    return row.extra > 0
      ? special[Int(row.extra) - 1].mime != nil : metadataTable.hasMediaType(row.metadata)
  }

  package func priority(at position: Int) -> Int? {
    let row = rows[position]
    return row.extra > 0 ? special[Int(row.extra) - 1].priority : nil
  }

  package func columnURL(at position: Int) -> WebURL {
    let origin = Int(rows[position].origin)
    return WebURL(
      like: origins.urls[origin],
      prefix: origins.prefix(origin),
      target: target(of: rows[position])
    )
  }

  func columnURLs(like position: Int) -> ColumnURLs {
    let origin = Int(rows[position].origin)
    return ColumnURLs(
      text: text,
      rows: rows,
      sibling: origins.urls[origin],
      prefix: origins.prefix(origin)
    )
  }

  package func descriptionHash(at position: Int) -> UInt64 {
    let row = rows[position]
    if row.extra > 0 { return special[Int(row.extra) - 1].descriptionHash }
    return ManifestEntry.descriptionHash(
      id: id(of: row),
      provider: metadataTable.provider(row.metadata),
      type: metadataTable.type(row.metadata),
      expires: nil
    )
  }

  private func id(of row: Row) -> String? {
    guard row.idLength > 0 else { return nil }
    let start = row.start + Int(row.length)
    return String(decoding: text[start..<start + Int(row.idLength)], as: UTF8.self)
  }

  private func path(of row: Row) -> String? {
    guard row.pathLength > 0 else { return nil }
    let start = row.start + Int(row.length) + Int(row.idLength)
    return String(decoding: text[start..<start + Int(row.pathLength)], as: UTF8.self)
  }

  package func path(at position: Int) -> String? {
    let row = rows[position]
    return row.extra > 0 ? special[Int(row.extra) - 1].path : path(of: row)
  }

  package func published(at position: Int) -> Instant? {
    guard position < times.count, times[position] != Self.noTime else { return nil }
    return Instant(milliseconds: times[position])
  }
}

// MARK: - Entries

extension EntryTable: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { rows.count }

  package subscript(position: Int) -> ManifestEntry {
    entry(at: position, identified: true)
  }

  /// Returns the whole entry; `identified` makes a missing id, which costs more than all the rest.
  package func entry(at position: Int, identified: Bool) -> ManifestEntry {
    let row = rows[position]
    if row.extra > 0 { return special[Int(row.extra) - 1] }
    let url = columnURL(at: position)
    var entry = ManifestEntry(url: url)
    if let id = id(of: row) {
      entry.id = id
    } else if identified, let makeIdentifier {
      entry.id = makeIdentifier(url)
      entry.isIdentifierMade = true
    }
    metadataTable.describe(&entry, as: row.metadata)
    entry.size = size(at: position)
    entry.path = path(of: row)
    entry.published = published(at: position)
    if position < digests.count, !digests[position].isNone {
      var digest = ExpectedDigest(algorithm: .sha256, bytes: digests[position].bytes)
      digest.isOfLockfile = isLocked(at: position)
      entry.digests = [digest]
    }
    if row.extra < 0 {
      let digest = strongDigests[-Int(row.extra) - 1]
      entry.digests = [ExpectedDigest(algorithm: .sha512, bytes: digest.bytes)]
    }
    return entry
  }
}

extension EntryTable: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.elementsEqual(b) && a.duplicateCount == b.duplicateCount
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
  }
}

extension EntryTable: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: ManifestEntry...) {
    self.init(elements)
  }
}

/// URLs of plain entries at one origin; a method call on a shared table would copy its arrays.
struct ColumnURLs: Sendable {
  fileprivate let text: [UInt8]
  fileprivate let rows: [EntryTable.Row]
  fileprivate let sibling: WebURL
  fileprivate let prefix: [UInt8]

  func url(at position: Int) -> (url: WebURL, size: Int64?) {
    let row = rows[position]
    let url = WebURL(like: sibling, prefix: prefix, target: target(of: row))
    return (url, row.size < 0 ? nil : row.size)
  }

  func text(at position: Int) -> String {
    WebURL.text(prefix, target(of: rows[position]))
  }

  private func target(of row: EntryTable.Row) -> ArraySlice<UInt8> {
    text[row.start..<row.start + Int(row.length)]
  }
}
