import PrefetchCore
import PrefetchTestSupport

/// A store in memory that checks every commit against the model of a limited cache.
final class WatchedStore: ContentStore {
  private let inner = MemoryStore()
  private var limit: Int64 = .max
  private var identity = ""
  private(set) var evictionCount = 0
  private(set) var refusedCount = 0
  private(set) var objections: [String] = []

  func begin(limit: Int64, identity: String) {
    self.limit = limit
    self.identity = identity
    evictionCount = 0
    refusedCount = 0
    objections = []
  }

  // MARK: What is stored

  var bodies: [RoomModel.Stored] {
    var urls: [ContentDigest: (size: Int64, urls: Set<String>)] = [:]
    for record in inner.records {
      guard let digest = record.digest else { continue }
      urls[digest, default: (record.size, [])].urls.insert(record.url)
    }
    return urls.map { RoomModel.Stored(body: $0.key, size: $0.value.size, urls: $0.value.urls) }
      .sorted { $0.body < $1.body }
  }

  func bodiesHeld(excluding identity: String) -> Set<ContentDigest> {
    guard let inventory = try? inner.readInventory() else { return [] }
    let held = inventory.rows.indices.filter { position in
      inventory.holders(of: position).contains { inventory.segmentKeys[$0].identity != identity }
    }
    return Set(held.map { inventory.rows[$0].digest })
  }

  // MARK: Commits

  func commit(_ changes: [StoreChange], within limit: Int64?) throws(Failure) -> [RemovedContent] {
    let (before, held) = (bodies, bodiesHeld(excluding: identity))
    let used = before.reduce(0) { $0 + $1.size }
    let removed: [RemovedContent]
    do throws(Failure) {
      removed = try inner.commit(changes, within: limit)
    } catch {
      if error.code == .cacheFull { refusedCount += 1 }
      throw error
    }
    let after = bodies
    let usedAfter = after.reduce(0) { $0 + $1.size }
    if usedAfter > max(self.limit, used) {
      objections.append("\(usedAfter) bytes are stored; the limit is \(self.limit)")
    }
    let there = Set(after.map(\.body))
    let evicted = Set(
      changes.flatMap {
        if case .evict(let digests, _, _) = $0 { digests } else { [ContentDigest]() }
      }
    )
    let lost = before.filter { evicted.contains($0.body) && !there.contains($0.body) }
    evictionCount += lost.count
    if lost.contains(where: { held.contains($0.body) }) {
      objections.append("what another configuration declares went")
    }
    let model = RoomModel(limit: self.limit, declared: [], stored: after, untouchable: [])
    if model.wentInVain(lost) { objections.append("a body went in vain") }
    return removed
  }

  // MARK: All else

  var staging: MemoryStaging { inner.staging }
  func readInventory(of urls: [String]?) throws(Failure) -> Inventory {
    try inner.readInventory(of: urls)
  }
  func stored(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?] {
    try inner.stored(items)
  }
  func hasUnseenChanges() throws(Failure) -> Bool { try inner.hasUnseenChanges() }
  func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    try inner.intactObject(digest)
  }
  func segments() throws(Failure) -> [SegmentRecord] { try inner.segments() }
  func usedBytes() throws(Failure) -> Int64 { try inner.usedBytes() }
  func diskSpace() throws(Failure) -> DiskSpace? { try inner.diskSpace() }
  func readStock() throws(Failure) -> Stock { try inner.readStock() }
  func partials() throws(Failure) -> [String: PartialBody] { try inner.partials() }
  func forgetPartial(_ key: String) { inner.forgetPartial(key) }
  func varianceKey() throws(Failure) -> VarianceKey { try inner.varianceKey() }

  func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    try inner.missingObjects(of: inventory)
  }

  func withObject<Result>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    try inner.withObject(digest, read)
  }
}
