/// The entries of a manifest as columns: a million of them take some 150 bytes each.
///
/// Most entries say where the content is and perhaps its size, digest, id, type, time and published
/// name; these live in the columns alone. Whatever says more is kept whole beside them.
package struct EntryTable: Sendable {
  struct Row: Sendable {
    /// Into ``text``: what follows the origin in the URL, then the id and the path, where there are.
    var start: Int
    /// Negative for unknown.
    var size: Int64
    /// Into ``origins``.
    var origin: UInt32
    /// From 1 into ``special``, or from -1 into ``strongDigests``; zero for nothing beside.
    var beside: Int32 = 0
    var length: UInt16 = 0
    var idLength: UInt16 = 0
    var pathLength: UInt16 = 0
    /// Into ``kinds``.
    var kind: UInt16 = 0
  }

  /// Who makes the ids of entries that have none of their own.
  package typealias IdentifierMaker = @Sendable (WebURL) -> String

  var text: [UInt8] = []
  var rows: [Row] = []
  var keys: [URLKey] = []
  /// In step with the rows once any has one; a digest of zeros stands for none.
  var digests: [ContentDigest] = []
  var strongDigests: [StrongDigest] = []
  /// When they came out, in milliseconds; in step with the rows once any is known.
  var times: [Int64] = []
  static let noTime = Int64.min
  var special: [ManifestEntry] = []
  var kinds = EntryKinds()
  var origins = OriginTable()
  var index = KeyTable()
  private(set) var makeIdentifier: IdentifierMaker?
  /// Of the entries that are kept whole.
  private var specialByteCount = 0
  /// How often a URL was named again; the first mention counts.
  package private(set) var duplicateCount = 0
  /// Whether any entry asks something of the network, and what has to be known for it.
  package var hasNetworkRules: Bool { !networkRules.isEmpty }
  package private(set) var networkAspects: Set<NetworkConditions.Aspect> = []
  /// All that entries ask of the network, each once.
  package private(set) var networkRules: [NetworkPolicy] = []
  private var networkNumbers: [NetworkPolicy: Int32] = [:]
  /// Into ``networkRules``, negative for nothing; as long as ``special`` up to the last that asks.
  private var networkNumber: [Int32] = []
  /// Whether any entry states a priority.
  package private(set) var hasPriorities = false
  /// Whether any entry belongs to a category, has a thumbnail, or says what runs fetch of it.
  package private(set) var hasCategories = false
  package private(set) var hasThumbnails = false
  package private(set) var hasBehaviors = false
  /// The category that each is a part of, where its manifest says so.
  package var categoryParents: [String: String] = [:]
  /// How many items its publisher wants to be taken of each category.
  package var countPerCategory: Int?
  var folder: Folder?
  /// What a relative reference follows, then one of them, to make one text of both.
  var candidate: [UInt8] = []
  var candidateLeading = 0

  /// The bytes of all URLs, references made whole, and of what else the columns hold.
  package var byteCount: Int { text.count + specialByteCount }

  package init(makeIdentifier: IdentifierMaker? = nil) {
    self.makeIdentifier = makeIdentifier
  }

  package init(_ entries: some Sequence<ManifestEntry>) {
    self.init()
    for entry in entries { append(entry) }
  }

  /// No text is made room for beyond this on the strength of a guess.
  private static let maximumReserve = 256 << 20

  /// Makes room for so many entries in all, as long as those that are there.
  package mutating func reserveCapacity(_ count: Int) {
    let length = text.count / Swift.max(1, rows.count) + 1
    text.reserveCapacity(Swift.min(count * length, Self.maximumReserve))
    rows.reserveCapacity(count)
    keys.reserveCapacity(count)
    if !digests.isEmpty { digests.reserveCapacity(count) }
    if !times.isEmpty { times.reserveCapacity(count) }
    if index.count == 0 { index = KeyTable(minimumCapacity: count) }
  }

  /// A URL that is named already is passed over.
  package mutating func append(_ entry: ManifestEntry) {
    add(entry, kind: nil)
  }

  /// The same in columns alone, where these hold all that the entry says.
  package mutating func appendBriefly(_ entry: ManifestEntry) {
    add(entry, kind: plainKind(of: entry))
  }

  private mutating func add(_ entry: ManifestEntry, kind: UInt16?) {
    let url = Array(entry.url.string.utf8)
    let key =
      entry.zone == nil ? unsafe URLKey(url.span.bytes) : URLKey(entry.recordURL)
    guard admit(key) else { return }
    let origin = unsafe origins.number(of: entry.url, written: url.span.bytes)
    var row = Row(start: text.count, size: entry.size ?? -1, origin: UInt32(origin))
    if let kind {
      row.kind = kind
      fill(&row, from: entry, url)
    } else {
      keep(entry)
      row.beside = Int32(special.count)
    }
    append(
      row,
      key: key,
      digest: entry.digests.first.flatMap(Self.contentDigest),
      published: entry.published
    )
  }

  private mutating func keep(_ entry: ManifestEntry) {
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
    if let network = entry.network { note(network) }
  }

  private mutating func note(_ network: NetworkPolicy) {
    networkAspects.formUnion(network.aspects)
    let number = networkNumbers[network] ?? Int32(networkRules.count)
    if number == networkRules.count {
      networkRules.append(network)
      networkNumbers[network] = number
    }
    networkNumber += repeatElement(-1, count: special.count - 1 - networkNumber.count)
    networkNumber.append(number)
  }

  /// Which of ``networkRules`` an entry asks for.
  package func networkRule(at position: Int) -> Int? {
    let place = Int(rows[position].beside) - 1
    guard networkNumber.indices.contains(place), networkNumber[place] >= 0 else { return nil }
    return Int(networkNumber[place])
  }

  mutating func noteDuplicates(_ count: Int) {
    duplicateCount += count
  }

  mutating func takeIdentifierMaker(of other: EntryTable) {
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

  private static func contentDigest(_ digest: ExpectedDigest) -> ContentDigest? {
    digest.algorithm == .sha256 ? ContentDigest(bytes: digest.bytes) : nil
  }
}
