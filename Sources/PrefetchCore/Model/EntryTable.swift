/// Entries of a manifest as columns: about 150 bytes each in a table of a million.
///
/// Entries that declare more than the columns hold are kept whole in ``special``.
package struct EntryTable: Sendable {
  struct Row: Sendable {
    /// Offset in ``text`` of the URL after its origin; the id and the path follow.
    var start: Int
    /// Declared bytes; negative if unknown.
    var size: Int64
    var origin: UInt32
    /// Number from 1 in ``special``, or from -1 in ``strongDigests``; 0 for neither.
    var extra: Int32 = 0
    var length: UInt16 = 0
    var idLength: UInt16 = 0
    var pathLength: UInt16 = 0
    var metadata: UInt16 = 0
  }

  package typealias IdentifierMaker = @Sendable (WebURL) -> String

  var text: [UInt8] = []
  var rows: [Row] = []
  var keys: [URLKey] = []
  /// SHA-256 column, zeros for none; empty until an entry has one, then parallel to `rows`.
  var digests: [ContentDigest] = []
  var strongDigests: [StrongDigest] = []
  /// Publication times in milliseconds; empty until one is known, then parallel to `rows`.
  var times: [Int64] = []
  static let noTime = Int64.min
  var special: [ManifestEntry] = []
  var metadataTable = MetadataTable()
  var origins = OriginTable()
  var index = KeyTable()
  private(set) var makeIdentifier: IdentifierMaker?
  private var specialByteCount = 0
  package private(set) var duplicateCount = 0
  package var hasNetworkRules: Bool { !networkRules.isEmpty }
  package private(set) var networkAspects: Set<NetworkConditions.Aspect> = []
  package private(set) var networkRules: [NetworkPolicy] = []
  private var networkNumbers: [NetworkPolicy: Int32] = [:]
  /// Index in ``networkRules`` per entry of ``special``, -1 for none; ends with the last rule.
  private var networkNumber: [Int32] = []
  package private(set) var hasPriorities = false
  package private(set) var hasCategories = false
  package private(set) var hasThumbnails = false
  package private(set) var hasBehaviors = false
  package var categoryParents: [String: String] = [:]
  package var countPerCategory: Int?
  /// Marks of the lock file that the entries were pinned to; nil without one.
  var lockMarks: LockMarks?
  var folder: Folder?
  /// Scratch buffer of a complete URL: `candidateLeading` bytes of the base, then a reference.
  var candidate: [UInt8] = []
  var candidateLeading = 0

  /// Bytes of the text column and of ``special``, after references were made absolute.
  package var byteCount: Int { text.count + specialByteCount }

  package init(makeIdentifier: IdentifierMaker? = nil) {
    self.makeIdentifier = makeIdentifier
  }

  package init(_ entries: some Sequence<ManifestEntry>) {
    self.init()
    for entry in entries { append(entry) }
  }

  /// Limit in bytes of a text reservation, which is only an estimate.
  private static let maximumReserve = 256 << 20

  package mutating func reserveCapacity(_ count: Int) {
    let length = text.count / Swift.max(1, rows.count) + 1
    text.reserveCapacity(Swift.min(count * length, Self.maximumReserve))
    rows.reserveCapacity(count)
    keys.reserveCapacity(count)
    if !digests.isEmpty { digests.reserveCapacity(count) }
    if !times.isEmpty { times.reserveCapacity(count) }
    if index.count == 0 { index = KeyTable(minimumCapacity: count) }
  }

  package mutating func append(_ entry: ManifestEntry) {
    add(entry, metadata: nil)
  }

  package mutating func appendToColumns(_ entry: ManifestEntry) {
    add(entry, metadata: columnMetadata(of: entry))
  }

  private mutating func add(_ entry: ManifestEntry, metadata: UInt16?) {
    let url = Array(entry.url.string.utf8)
    let key =
      entry.zone == nil ? unsafe URLKey(url.span.bytes) : URLKey(entry.recordURL)
    guard admit(key) else { return }
    let origin = unsafe origins.number(of: entry.url, written: url.span.bytes)
    var row = Row(start: text.count, size: entry.size ?? -1, origin: UInt32(origin))
    if let metadata {
      row.metadata = metadata
      fill(&row, from: entry, url)
    } else {
      keep(entry)
      row.extra = Int32(special.count)
    }
    append(
      row,
      key: key,
      digest: entry.digests.first.flatMap(Self.contentDigest),
      published: entry.published
    )
  }

  mutating func keep(_ entry: ManifestEntry) {
    special.append(entry)
    if entry.id == nil, let makeIdentifier {
      special[special.count - 1].id = makeIdentifier(entry.url)
      special[special.count - 1].isIdentifierMade = true
    }
    specialByteCount += entry.urlByteCount
    if entry.priority != nil { hasPriorities = true }
    if !entry.categories.isEmpty { hasCategories = true }
    if entry.thumbnail != nil { hasThumbnails = true }
    if entry.behavior != nil || entry.isThumbnail { hasBehaviors = true }
    if let network = entry.network { recordNetworkRule(network) }
  }

  private mutating func recordNetworkRule(_ network: NetworkPolicy) {
    networkAspects.formUnion(network.aspects)
    let number = networkNumbers[network] ?? Int32(networkRules.count)
    if number == networkRules.count {
      networkRules.append(network)
      networkNumbers[network] = number
    }
    networkNumber += repeatElement(-1, count: special.count - 1 - networkNumber.count)
    networkNumber.append(number)
  }

  package func networkRule(at position: Int) -> Int? {
    let slot = Int(rows[position].extra) - 1
    guard networkNumber.indices.contains(slot), networkNumber[slot] >= 0 else { return nil }
    return Int(networkNumber[slot])
  }

  mutating func addDuplicates(_ count: Int) {
    duplicateCount += count
  }

  mutating func inheritIdentifierMaker(of other: EntryTable) {
    makeIdentifier = makeIdentifier ?? other.makeIdentifier
  }

  mutating func admit(_ key: URLKey) -> Bool {
    guard index.insert(key, at: keys.count, keyAt: { keys[$0] }) == nil else {
      duplicateCount += 1
      return false
    }
    return true
  }

  mutating func append(_ row: Row, key: URLKey, digest: ContentDigest?, published: Instant?) {
    if let digest {
      if digests.isEmpty {
        digests.reserveCapacity(rows.capacity)
        digests.append(contentsOf: repeatElement(.none, count: rows.count))
      }
      digests.append(digest)
    } else if !digests.isEmpty {
      digests.append(.none)
    }
    if let published {
      if times.isEmpty {
        times.reserveCapacity(rows.capacity)
        times.append(contentsOf: repeatElement(Self.noTime, count: rows.count))
      }
      times.append(published.milliseconds)
    } else if !times.isEmpty {
      times.append(Self.noTime)
    }
    rows.append(row)
    keys.append(key)
  }

  /// Sets the publication time of an entry that has none.
  mutating func date(_ position: Int, _ published: Instant) {
    guard self.published(at: position) == nil else { return }
    if times.isEmpty { times.append(contentsOf: repeatElement(Self.noTime, count: rows.count)) }
    times[position] = published.milliseconds
    if rows[position].extra > 0 { special[Int(rows[position].extra) - 1].published = published }
  }

  private static func contentDigest(_ digest: ExpectedDigest) -> ContentDigest? {
    digest.algorithm == .sha256 ? ContentDigest(bytes: digest.bytes) : nil
  }
}
