internal import PrefetchCore

/// Codes a content record as a row of `items`; `item_times` overrides its times.
enum RecordRow {
  /// Columns in the order that ``StoredRow`` expects.
  static let columns =
    """
    item, url, id, expires_at, facts, freshness, fresh_until, validated_at, \
    CASE variance WHEN 0 THEN NULL ELSE \
    (SELECT hops FROM variances WHERE variances.variance=items.variance) END
    """

  static let source = "items LEFT JOIN item_times USING (item)"

  /// Reads the facts of a row; returns false for bytes that `append` never makes.
  static func read(_ facts: RawSpan, into record: inout ContentRecord) -> Bool {
    guard let head = ItemHead(facts),
      let digests = DigestCoding.decode(facts.extracting(head.otherDigests)),
      DetailsCoding.decode(facts.extracting(head.end..<facts.byteCount), into: &record)
    else { return false }
    record.state = head.state
    record.digest = head.digest.isNone ? nil : head.digest
    record.size = head.size
    record.otherDigests = digests
    record.description = head.description
    record.validators.entityTag = head.tag(of: facts)
    record.fetchedAt = head.fetchedAt.map(Instant.init(milliseconds:))
    record.validatedAt = head.validatedAt.map(Instant.init(milliseconds:))
    record.freshness = head.freshness
    record.form = head.form
    return true
  }

  /// Returns whether all of the facts can be read, not only the head.
  static func isReadable(_ facts: RawSpan, after head: ItemHead) -> Bool {
    (head.otherDigests.isEmpty || DigestCoding.decode(facts.extracting(head.otherDigests)) != nil)
      && DetailsCoding.isReadable(facts.extracting(head.end..<facts.byteCount))
  }

  /// Returns whether the facts describe a body without a redirect or a failure.
  static func suitsSimpleItem(_ facts: RawSpan) -> Bool {
    guard let head = ItemHead(facts),
      DigestCoding.decode(facts.extracting(head.otherDigests)) != nil
    else { return false }
    return DetailsCoding.suitSimpleItem(facts.extracting(head.end..<facts.byteCount))
  }

  /// Returns the facts that a revalidation needs; nil for bytes that `append` never makes.
  static func confirmable(_ facts: RawSpan, validatedAt: Instant?) -> Confirmable? {
    guard let head = ItemHead(facts),
      let details = DetailsCoding.confirmableHead(facts.extracting(head.end..<facts.byteCount))
    else { return nil }
    var validators = Validators()
    validators.entityTag = head.tag(of: facts)
    validators.lastModified = details.lastModified
    return Confirmable(
      headers: details.headers,
      validators: validators,
      receivedAt: validatedAt
        ?? (head.validatedAt ?? head.fetchedAt).map(Instant.init(milliseconds:))
    )
  }

  static func lastModified(_ facts: RawSpan) -> String? {
    guard let head = ItemHead(facts), head.isDated else { return nil }
    return DetailsCoding.confirmableHead(facts.extracting(head.end..<facts.byteCount))?.lastModified
  }

  static func append(_ record: ContentRecord, to facts: inout [UInt8]) {
    var head = ItemHead(
      digest: record.digest,
      size: record.size,
      state: record.state,
      description: record.description,
      validatedAt: record.validatedAt,
      freshness: record.freshness,
      fetchedAt: record.fetchedAt,
      isDated: record.validators.lastModified != nil
    )
    head.form = record.form
    head.append(
      to: &facts,
      tag: record.validators.entityTag,
      digests: DigestCoding.encode(record.otherDigests)
    )
    DetailsCoding.append(record, to: &facts)
  }

  static func append(_ arrival: Arrival, _ table: EntryTable, to facts: inout [UInt8]) {
    let head = ItemHead(
      digest: arrival.body.digest,
      size: arrival.body.size,
      state: .cached,
      description: table.descriptionHash(at: arrival.entry),
      validatedAt: arrival.at,
      freshness: arrival.freshness,
      fetchedAt: arrival.at,
      isDated: arrival.validators.lastModified != nil
    )
    head.append(to: &facts, tag: arrival.validators.entityTag, digests: [])
    DetailsCoding.append(arrival, table, to: &facts)
  }

  static func damaged(_ column: String = "facts", of url: String) -> Failure {
    Failure(.storeDamaged, "the index is damaged: it holds an impossible `\(column)` for `\(url)`")
  }
}

/// Codes digests other than SHA-256: a byte for the algorithm, then the digest's bytes.
enum DigestCoding {
  static func encode(_ digests: [DigestAlgorithm: [UInt8]]) -> [UInt8] {
    guard !digests.isEmpty else { return [] }
    var bytes: [UInt8] = []
    for (code, algorithm) in algorithms.enumerated() {
      guard let digest = digests[algorithm], digest.count == algorithm.byteCount else { continue }
      bytes.append(UInt8(code))
      bytes += digest
    }
    return bytes
  }

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
