extension EntryTable {
  package mutating func append(contentsOf other: EntryTable) {
    guard !isEmpty else {
      let duplicates = duplicateCount
      self = other
      addDuplicates(duplicates)
      return
    }
    // Exact reservations for each of a thousand parts would copy all entries a thousand times.
    if other.count > count { reserveCapacity(count + other.count) }
    append(other, at: other.indices)
    addDuplicates(other.duplicateCount)
  }

  package mutating func append(_ other: EntryTable, at positions: some Collection<Int>) {
    inheritIdentifierMaker(of: other)
    var numbers = Numbers(other)
    for position in positions {
      let known = count
      append(position, of: other, &numbers)
      if other.lockMarks != nil, count > known { copyLockMarks(of: position, in: other) }
    }
  }

  /// Numbers in this table of another table's origins and kinds; nil until first met.
  private struct Numbers {
    var origins: [UInt32?]
    /// Kind numbers; the inner nil means that this table has no room for the kind.
    var metadata: [UInt16??]

    init(_ other: EntryTable) {
      origins = Array(repeating: nil, count: other.allOrigins.count)
      metadata = Array(repeating: nil, count: other.metadataTable.count)
    }
  }

  private mutating func append(
    _ position: Int,
    of other: EntryTable,
    _ numbers: inout Numbers
  ) {
    let from = other.rows[position]
    guard from.extra <= 0, let metadata = metadata(from.metadata, of: other, &numbers) else {
      return append(other[position])
    }
    let key = other.keys[position]
    guard admit(key) else { return }
    var row = from
    row.start = text.count
    row.metadata = metadata
    row.origin = origin(from.origin, of: other, &numbers)
    let length = Int(from.length) + Int(from.idLength) + Int(from.pathLength)
    text.append(contentsOf: other.text[from.start..<from.start + length])
    if from.extra < 0 {
      strongDigests.append(other.strongDigests[-Int(from.extra) - 1])
      row.extra = -Int32(strongDigests.count)
    }
    append(
      row,
      key: key,
      digest: other.columnDigest(at: position),
      published: other.published(at: position)
    )
  }

  private mutating func origin(
    _ number: UInt32,
    of other: EntryTable,
    _ numbers: inout Numbers
  ) -> UInt32 {
    if let known = numbers.origins[Int(number)] { return known }
    let own = UInt32(origins.number(of: other.allOrigins[Int(number)]))
    numbers.origins[Int(number)] = own
    return own
  }

  private mutating func metadata(
    _ number: UInt16,
    of other: EntryTable,
    _ numbers: inout Numbers
  ) -> UInt16? {
    if let known = numbers.metadata[Int(number)] { return known }
    let own = metadataTable.number(of: number, in: other.metadataTable)
    numbers.metadata[Int(number)] = .some(own)
    return own
  }
}
