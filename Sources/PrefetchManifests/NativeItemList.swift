internal import PrefetchCore
internal import PrefetchDocuments

/// Reads items into a table in one pass; only those that fit no columns are read as trees.
struct NativeItemList {
  enum Fault: Error {
    /// The bytes need the reader of whole documents, which words the failure.
    case irregular
    case item(Failure)
  }

  enum Form {
    case list
    case lines
  }

  private static let maximumNodes = 100_000

  private var cursor: JSONCursor
  private var reader: NativeItemReader
  private(set) var table = EntryTable { ItemIdentifier.make(for: $0) }
  private var refusals = Refusals()
  private var itemCount = 0
  /// Whether simple items skip the tree reader; tests turn it off to compare both readers.
  private let usesFastPath: Bool

  init(_ cursor: JSONCursor, base: WebURL?, position: TextPosition, usesFastPath: Bool) {
    self.cursor = cursor
    self.usesFastPath = usesFastPath
    reader = NativeItemReader(base: base, position: position)
    if let base { table.resolveReferences(against: base) }
  }

  var rejected: [RejectedEntry] { refusals.entries }

  mutating func read(_ form: Form) throws(Fault) -> Int {
    if form == .lines {
      while cursor.next() != 0 { try item(atMost: ManifestBounds.maximumLines) }
      guard cursor.offset == cursor.count else { throw .irregular }
      return cursor.offset
    }
    if cursor.accept(UInt8(ascii: "]")) { return cursor.offset }
    repeat {
      _ = cursor.next()
      try item(atMost: ManifestBounds.maximumItems)
    } while cursor.accept(UInt8(ascii: ","))
    guard cursor.accept(UInt8(ascii: "]")) else { throw .irregular }
    return cursor.offset
  }

  private mutating func item(atMost limit: Int) throws(Fault) {
    itemCount += 1
    let bytes = table.byteCount + refusals.byteCount
    if let surplus = ManifestBounds.surplus(items: itemCount, bytes: bytes, atMost: limit) {
      reader.itemOffset = cursor.offset
      throw .item(reader.invalid(surplus, at: SourceLocation(file: "manifest", line: 1, column: 1)))
    }
    if itemCount == 256 { reserve() }
    let start = cursor.offset
    if usesFastPath {
      var fields = NativeItemFields()
      if fields.read(&cursor), add(fields) { return }
      cursor.offset = start
    }
    try readTree()
  }

  private mutating func reserve() {
    let expected = cursor.count / max(1, cursor.offset / itemCount) + 1
    table.reserveCapacity(min(expected, ManifestBounds.maximumItems))
  }

  // MARK: The short way

  private mutating func add(_ fields: NativeItemFields) -> Bool {
    guard fields.id.isAbsent || (1...Int(UInt16.max)).contains(fields.id.count) else {
      return false
    }
    // In a column, a digest of zeros means that the item has none.
    guard fields.fitsColumns, fields.digest?.isNone != true,
      let address = unsafe table.resolve(RawSpan(_unsafeBytes: cursor.bytes(fields.url))),
      let metadata = metadata(of: fields)
    else { return addWhole(fields) }
    guard let published = NativeItemReader.published(fields, cursor),
      unsafe fields.path.isAbsent || PublishedName.isSafe(cursor.bytes(fields.path)),
      admitsIdentifier(of: fields)
    else { return false }
    var details = EntryTable.Details()
    details.metadata = metadata
    details.size = fields.size < 0 ? nil : fields.size
    details.digest = fields.digest
    details.strongDigest = fields.strongDigest
    details.published = published
    let id = unsafe fields.id.isAbsent ? nil : RawSpan(_unsafeBytes: cursor.bytes(fields.id))
    let path = unsafe fields.path.isAbsent ? nil : RawSpan(_unsafeBytes: cursor.bytes(fields.path))
    unsafe table.appendURL(
      RawSpan(_unsafeBytes: cursor.bytes(fields.url)),
      at: address,
      id: id,
      path: path,
      details
    )
    return true
  }

  private mutating func metadata(of fields: NativeItemFields) -> UInt16? {
    if fields.type.isAbsent, fields.provider.isAbsent, fields.mime.isAbsent { return 0 }
    let type = unsafe fields.type.isAbsent ? nil : RawSpan(_unsafeBytes: cursor.bytes(fields.type))
    let provider =
      unsafe fields.provider.isAbsent ? nil : RawSpan(_unsafeBytes: cursor.bytes(fields.provider))
    let mime = unsafe fields.mime.isAbsent ? nil : RawSpan(_unsafeBytes: cursor.bytes(fields.mime))
    return table.metadata(type: type, provider: provider, mime: mime)
  }

  private mutating func admitsIdentifier(of fields: NativeItemFields) -> Bool {
    guard !fields.id.isAbsent else { return true }
    return unsafe reader.identifiers.insert(
      RawSpan(_unsafeBytes: cursor.bytes(fields.id)),
      of: RawSpan(_unsafeBytes: cursor.bytes(fields.provider))
    )
  }

  /// Adds an item as an entry when the columns cannot hold it; returns false when it is invalid.
  private mutating func addWhole(_ fields: NativeItemFields) -> Bool {
    guard let entry = reader.entry(fields, cursor), admitsIdentifier(of: fields) else {
      return false
    }
    table.append(entry)
    return true
  }

  // MARK: The long way

  private mutating func readTree() throws(Fault) {
    let start = cursor.offset
    guard Self.beginsValue(cursor.byte(at: start)) else { throw .irregular }
    let isClosed = cursor.skipValue()
    let end = isClosed ? cursor.offset : cursor.count
    var limits = DocumentReader.Limits()
    limits.bytes = .max
    // The document and its list already take two levels.
    limits.depth = NativeManifest.maximumDepth - 2
    limits.nodes = Self.maximumNodes
    let bytes = unsafe cursor.bytes(JSONCursor.Stretch(start: start, count: end - start))
    let reading = DocumentReader.read(
      unsafe Array(bytes),
      source: "manifest",
      syntax: .json,
      limits: limits
    )
    reader.itemOffset = start
    if let problem = reading.diagnostics.first(where: { $0.severity == .error }) {
      throw problem.code == "document.too-large"
        ? .item(reader.invalid(problem.message, at: problem.location)) : .irregular
    }
    guard isClosed, let node = reading.node else { throw .irregular }
    do throws(RejectedEntry) {
      table.append(try reader.entry(node))
    } catch {
      refusals.add(error)
    }
  }

  private static func beginsValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
      UInt8(ascii: "n"):
      true
    default: false
    }
  }
}
