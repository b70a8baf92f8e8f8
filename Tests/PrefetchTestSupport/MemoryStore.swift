package import PrefetchCore

/// A content store in memory with the guarantees of the store on disk.
package final class MemoryStore: ContentStore {
  /// First commit, counted from 1, that throws, as do all later ones.
  package var failsFromCommit = Int.max
  package var commitFailure = Failure(.diskFull, "the disk is full")
  /// Objects that the file system has lost.
  package var lost: Set<ContentDigest> = []
  /// Objects that no record names.
  package var orphans: [ContentDigest: [UInt8]] = [:]
  package private(set) var commitCount = 0
  package let staging = MemoryStaging()

  private var content = Content()

  package init() {}

  // MARK: Bodies

  /// Failure that `readStock` throws.
  package var stockFailure: Failure?
  /// Simulated disk space.
  package var disk: DiskSpace?

  package func usedBytes() throws(Failure) -> Int64 {
    content.usedBytes
  }

  package func diskSpace() throws(Failure) -> DiskSpace? {
    disk
  }

  package func readStock() throws(Failure) -> Stock {
    if let stockFailure { throw stockFailure }
    let inventory = try readInventory()
    var ages: [Int: Stock.Age] = [:]
    for (position, row) in inventory.rows.enumerated() {
      guard let url = content.url(of: row.item), let record = content.records[url] else { continue }
      ages[position] = Stock.Age(
        lastUse: record.fetchedAt ?? Instant(milliseconds: 0),
        expiresAt: record.expiresAt
      )
    }
    var pinned: [ContentDigest: Stock.Document] = [:]
    for digest in content.segments.values.flatMap(\.manifests) {
      let size = Int64(content.objects[digest]?.count ?? 0)
      pinned[digest, default: Stock.Document(size: size, names: 0)].names += 1
    }
    return Stock(
      inventory: inventory,
      used: content.usedBytes,
      pinned: pinned,
      ages: ages
    )
  }

  package func partials() throws(Failure) -> [String: PartialBody] {
    staging.partials
  }

  package func forgetPartial(_ key: String) {
    staging.forgetPartial(key)
  }

  package func varianceKey() throws(Failure) -> VarianceKey {
    VarianceKey()
  }

  package func withObject<Result>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    guard let bytes = content.objects[digest], !lost.contains(digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    return unsafe try read(bytes.span.bytes)
  }

  // MARK: Index

  /// All records, ordered by the bytes of their URLs.
  package var records: [ContentRecord] {
    content.records.values.sorted { $0.url.utf8.lexicographicallyPrecedes($1.url.utf8) }
  }

  package func readInventory(of urls: [String]?) throws(Failure) -> Inventory {
    let keys = content.members.keys.sorted()
    var sets: [[Int]] = [[]]
    var strong: [[DigestAlgorithm: [UInt8]]] = []
    var variances: [Variance] = []
    let wanted = content.records.values.filter { urls?.contains($0.url) ?? true }
    let rows = wanted.map { record in
      var row = Inventory.Row(record, item: content.numbers[record.url] ?? 0)
      let holders = keys.indices.filter { content.members[keys[$0]]?.contains(record.url) == true }
      row.holders = UInt32(sets.firstIndex(of: holders) ?? sets.count)
      if Int(row.holders) == sets.count { sets.append(holders) }
      if !record.otherDigests.isEmpty {
        strong.append(record.otherDigests)
        row.strong = UInt32(strong.count)
      }
      if let variance = record.variance {
        variances.append(variance)
        row.variance = UInt32(variances.count)
      }
      return row
    }
    var inventory = Inventory(
      rows: rows.sorted { $0.item < $1.item },
      strongDigests: strong,
      variances: variances,
      holderSets: sets,
      segmentKeys: keys
    )
    for row in inventory.rows {
      inventory.sights[row.item] = content.url(of: row.item).flatMap { content.sights[$0] }
    }
    return inventory
  }

  package func stored(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?] {
    items.map { item in
      content.url(of: item).flatMap { content.records[$0] }.map { Shared($0) }
    }
  }

  package func hasUnseenChanges() throws(Failure) -> Bool {
    !lost.isEmpty
  }

  package func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    let manifests = content.segments.values.flatMap(\.manifests)
    return lost.intersection(inventory.rows.filter(\.hasBody).map(\.digest) + manifests)
  }

  package func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    (orphans[digest] ?? content.objects[digest]).map { Int64($0.count) }
  }

  package func segments() throws(Failure) -> [SegmentRecord] {
    content.segments.values.sorted { $0.key < $1.key }
  }

  package func commit(
    _ changes: [StoreChange],
    within limit: Int64?
  ) throws(Failure) -> [RemovedContent] {
    commitCount += 1
    guard commitCount < failsFromCommit else { throw commitFailure }
    var next = content
    next.objects.merge(orphans) { known, _ in known }
    for change in changes {
      for body in change.bodies {
        guard let bytes = staging.bytes(ofFinished: body) else {
          throw Failure(.internal, "there is no staged body \(body.id)")
        }
        next.objects[body.digest] = bytes
        lost.remove(body.digest)
      }
      try next.apply(change)
    }
    let removed = next.removed
    next.removed = []
    next.dropUnnamedObjects()
    if let limit, next.usedBytes > max(limit, content.usedBytes) {
      throw Failure(.cacheFull, "there is no room")
    }
    content = next
    for body in changes.flatMap(\.bodies) { staging.discard(body) }
    return removed
  }
}

/// Contents of a store as one value, so that a commit replaces it as a whole or not at all.
private struct Content {
  var records: [String: ContentRecord] = [:]
  var sights: [String: Sight] = [:]
  var members: [SegmentKey: Set<String>] = [:]
  var segments: [SegmentKey: SegmentRecord] = [:]
  var objects: [ContentDigest: [UInt8]] = [:]
  var removed: [RemovedContent] = []
  /// Number of each record; numbers are never reused.
  var numbers: [String: Int64] = [:]
  private var lastNumber: Int64 = 0

  func url(of item: Int64) -> String? {
    numbers.first { $0.value == item }?.key
  }

  mutating func apply(_ change: StoreChange) throws(Failure) {
    switch change {
    case .store(let record, let body, _, let keys):
      try write(record, body)
      for key in keys { try join(key, [record.url]) }
    case .arrived(let arrivals):
      for arrival in arrivals {
        try write(arrival.record, arrival.body)
        if let segment = arrival.terms.segment { try join(segment, [arrival.url]) }
      }
    case .confirm(let confirmations):
      for confirmation in confirmations {
        guard let url = url(of: confirmation.item) else { continue }
        records[url]?.validatedAt = confirmation.validatedAt
        records[url]?.freshness = confirmation.freshness
      }
    case .join(let key, let numbers):
      try join(key, numbers.compactMap { url(of: $0) })
    case .joinNew(let key, let urls):
      try join(key, urls)
    case .leave(let key, let items):
      leave(key, items.compactMap { url(of: $0) })
    case .segment(var record, let manifest):
      record.manifest = manifest?.digest ?? record.manifest
      record.documents = segments[record.key]?.documents ?? []
      segments[record.key] = record
      members[record.key] = members[record.key] ?? []
    case .documents(let key, let documents, let bodies):
      let known = Set(objects.keys).union(bodies.map(\.digest))
      guard documents.allSatisfy({ known.contains($0.digest) }) else {
        throw Failure(.storeDamaged, "a document of `\(key.name)` is not stored")
      }
      segments[key, default: SegmentRecord(key: key)].documents = documents
      members[key] = members[key] ?? []
    case .evict(let digests, let identity, _):
      for digest in digests { evict(digest, for: identity) }
    case .forget(let key):
      leave(key, members[key]?.sorted() ?? [])
      segments[key] = nil
      members[key] = nil
    case .dated: break
    case .sighted(let url, let sight): sights[url] = sight
    }
  }

  private mutating func write(_ given: ContentRecord, _ body: StagedBody?) throws(Failure) {
    var record = given
    record.digest = body?.digest ?? record.digest
    record.size = body?.size ?? record.size
    if let digest = record.digest, objects[digest] == nil {
      throw Failure(.storeDamaged, "no stored body `\(digest)` for `\(record.url)`")
    }
    records[record.url] = record
    guard numbers[record.url] == nil else { return }
    lastNumber += 1
    numbers[record.url] = lastNumber
  }

  private mutating func join(_ key: SegmentKey, _ urls: [String]) throws(Failure) {
    for url in urls {
      guard records[url] != nil else { throw Failure(.internal, "`\(url)` has no record") }
      members[key, default: []].insert(url)
      if segments[key] == nil { segments[key] = SegmentRecord(key: key) }
    }
  }

  private mutating func leave(_ key: SegmentKey, _ urls: [String]) {
    for url in urls where members[key]?.remove(url) != nil {
      guard !members.values.contains(where: { $0.contains(url) }),
        let record = records.removeValue(forKey: url)
      else { continue }
      numbers[url] = nil
      sights[url] = nil
      var content = RemovedContent(url: url, id: record.id, size: record.size)
      content.hadBody = record.digest != nil
      content.segments = [key]
      removed.append(content)
    }
  }

  private mutating func evict(_ digest: ContentDigest, for identity: String) {
    let names = records.values.filter { $0.digest == digest }.map(\.url).sorted()
    let holders = names.map { url in members.keys.filter { members[$0]?.contains(url) == true } }
    let isNeeded = holders.joined().contains { key in
      key.identity != identity && segments[key]?.state != .unsubscribed
    }
    guard !isNeeded else { return }
    for (url, keys) in zip(names, holders) {
      guard let record = records[url] else { continue }
      var content = RemovedContent(url: url, id: record.id, size: record.size)
      content.segments = keys.sorted()
      content.wasEvicted = true
      removed.append(content)
      guard !keys.isEmpty else {
        records[url] = nil
        numbers[url] = nil
        continue
      }
      records[url]?.digest = nil
      records[url]?.size = 0
      records[url]?.state = .pending
      records[url]?.validators = Validators()
      records[url]?.clearResponseTerms()
    }
  }

  var usedBytes: Int64 {
    objects.values.reduce(0) { $0 + Int64($1.count) }
  }

  mutating func dropUnnamedObjects() {
    let named = Set(records.values.compactMap(\.digest) + segments.values.flatMap(\.manifests))
    objects = objects.filter { named.contains($0.key) }
  }
}
