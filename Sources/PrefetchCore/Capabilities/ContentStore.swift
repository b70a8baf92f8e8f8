/// The engine's only interface to the cache: its contents and their changes.
package protocol ContentStore: BodyStaging {
  associatedtype Staging: BodyStaging & Sendable
  var staging: Staging { get }
  /// Reads all records, or those of `urls`, in one pass and without text.
  func readInventory(of urls: [String]?) throws(Failure) -> Inventory
  /// Returns stored responses in order, nil for removed items; ids derived from URLs may be empty.
  func stored(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?]
  /// Whether objects may have been lost or added since the last run; checks 256 folders.
  func hasUnseenChanges() throws(Failure) -> Bool
  /// Returns missing objects of the inventory; lists only folders that changed since the last run.
  func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest>
  func stored(url: String) throws(Failure) -> (any StoredResponse)?
  func beginClaims() throws(Failure)
  func endClaims()
  /// Whether other runs are active; from then on each requested URL must be claimed.
  func hasOtherRuns() throws(Failure) -> Bool
  /// Claims URLs until `release`; returns for each whether this run owns it.
  func claim(_ urls: [String]) throws(Failure) -> [Bool]
  func release(_ urls: [String])
  /// Returns users' pauses and removals of items since `beginClaims`; nil for neither.
  func controls(of urls: [String]) throws(Failure) -> [ItemControl?]
  /// Returns the newest document that any configuration got from a URL by the request `requestHash`.
  func document(at url: String, requestHash: UInt64) throws(Failure) -> DocumentRecord?
  /// Returns the size of an object that no row names, after hashing shows that it is intact.
  func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64?
  /// Whether there may be objects that only a lost index named.
  func seeksLostBodies() throws(Failure) -> Bool
  /// Returns an object that no row names and that has one of the digests.
  func lostBody(_ digests: [ExpectedDigest]) throws(Failure) -> FoundBody?
  func segments() throws(Failure) -> [SegmentRecord]
  /// Applies all changes in order, or none; returns the content removed because nothing holds it.
  ///
  /// Bodies are durable before the records that name them. A commit that raises the bytes named by
  /// the index above `limit` is refused with `cache_full`, since other processes commit too.
  func commit(_ changes: [StoreChange], within limit: Int64?) throws(Failure) -> [RemovedContent]
  /// Returns a number that changes when another process writes.
  func dataVersion() throws(Failure) -> Int64?
  /// Returns the bytes of all bodies that the index names, each counted once.
  func usedBytes() throws(Failure) -> Int64
  func diskSpace() throws(Failure) -> DiskSpace?
  func readStock() throws(Failure) -> Stock
  func withObject<Result>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result
  func partials() throws(Failure) -> [String: PartialBody]
  func partial(_ key: String) throws(Failure) -> PartialBody?
  /// Deletes a kept part, for example because its server has a newer body.
  func forgetPartial(_ key: String)
  func varianceKey() throws(Failure) -> VarianceKey
}

extension ContentStore {
  package func readInventory() throws(Failure) -> Inventory {
    try readInventory(of: nil)
  }
}

/// Defaults of a store that no other process uses.
extension ContentStore {
  package func stored(url: String) throws(Failure) -> (any StoredResponse)? { nil }
  package func beginClaims() {}
  package func endClaims() {}
  package func hasOtherRuns() -> Bool { false }
  package func seeksLostBodies() -> Bool { false }
  package func lostBody(_ digests: [ExpectedDigest]) -> FoundBody? { nil }
  package func dataVersion() -> Int64? { nil }
  package func partial(_ key: String) -> PartialBody? { nil }
  package func claim(_ urls: [String]) -> [Bool] { urls.map { _ in true } }
  package func release(_ urls: [String]) {}
  package func controls(of urls: [String]) -> [ItemControl?] { urls.map { _ in nil } }
  package func document(at url: String, requestHash: UInt64) -> DocumentRecord? { nil }
}

extension ContentStore {
  package func commit(_ changes: [StoreChange]) throws(Failure) -> [RemovedContent] {
    try commit(changes, within: nil)
  }

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    try staging.beginBody(plan)
  }

  package func withBytes<Result>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    try staging.withBytes(of: body, read)
  }

  package func discard(_ body: StagedBody) {
    staging.discard(body)
  }
}

package struct SegmentKey: Hashable, Comparable, Sendable {
  package var identity: String
  package var name: String

  package init(identity: String, name: String) {
    self.identity = identity
    self.name = name
  }

  package static func < (a: Self, b: Self) -> Bool {
    (a.identity, a.name) < (b.identity, b.name)
  }
}

/// State of a segment after its last run.
package struct SegmentRecord: Hashable, Sendable {
  package var key: SegmentKey
  package var priority: Int?
  package var manifestURL: String?
  /// Last good manifest, kept as an object so that it can be read again after a 304.
  package var manifest: ContentDigest?
  package var manifestFinalURL: String?
  package var manifestRequestHash: UInt64?
  package var validators = Validators()
  /// `generated` time of the manifest, below which a later manifest is a rollback.
  package var generated: Instant?
  package var itemCount = 0
  package var shard: String?
  package var lastChecked: Instant?
  package var lastSuccess: Instant?
  package var state = SegmentState.incomplete
  package var quiet: QuietMark?
  /// Hosts that its items declare, as ``WebURL/authority``; nil above ``hostLimit``.
  package var hosts: [String]? = []
  /// Items removed from its list that stay until their successors are stored.
  package var retained: [RetainedItem] = []
  /// Newest version of each group of `select`, below which a later list is a rollback.
  package var newest: HeldVersions?
  /// Further documents of the manifest, in order; only ``StoreChange/documents`` changes them.
  package var documents: [DocumentRecord] = []

  package init(key: SegmentKey) {
    self.key = key
  }

  package mutating func setHosts(of urls: [WebURL]) {
    let hosts = urls.count > Self.hostLimit ? nil : Set(urls.map(\.authority)).sorted()
    self.hosts = hosts
  }

  private static let hostLimit = 64

  package mutating func forgetManifest() {
    manifest = nil
    manifestFinalURL = nil
    validators = Validators()
  }

  package func document(at url: String) -> DocumentRecord? {
    guard manifestURL == url, let manifest else { return documents.first { $0.url == url } }
    var record = DocumentRecord(url: url, digest: manifest)
    record.finalURL = manifestFinalURL
    record.validators = validators
    record.requestHash = manifestRequestHash
    return record
  }

  package var manifests: [ContentDigest] {
    [manifest].compactMap(\.self) + documents.map(\.digest)
  }
}

/// Further document of a segment's manifest: a part or signature, kept as an object.
package struct DocumentRecord: Hashable, Sendable {
  package var url: String
  package var finalURL: String?
  package var validators = Validators()
  package var requestHash: UInt64?
  package var digest: ContentDigest
  /// Time at which a signed part says that it was made.
  package var generated: Instant?
  package var isSignature = false

  package init(url: String, digest: ContentDigest) {
    self.url = url
    self.digest = digest
  }
}

/// Mark of a complete segment: it has no work while its manifest is unchanged.
package struct QuietMark: Hashable, Sendable {
  /// Earliest time at which one of its items becomes stale or expires.
  package var until: Instant
  /// Hash of the other inputs that decide about items; a change ends the mark.
  package var rules: UInt64
  package var itemCount: Int
  package var bytes: Int64

  package init(until: Instant, rules: UInt64, itemCount: Int, bytes: Int64) {
    self.until = until
    self.rules = rules
    self.itemCount = itemCount
    self.bytes = bytes
  }
}

package struct Confirmation: Hashable, Sendable {
  package var item: Int64
  package var validatedAt: Instant
  package var freshness: Freshness
}

package enum ItemOrigin: String, Hashable, Sendable, CaseIterable {
  case segment
  case onDemand = "on_demand"
  case passthrough
}

/// Facts that few items have, in addition to those of their bodies.
package struct ContentTraits: Hashable, Sendable {
  package var caption = ItemCaption()
  /// Form of the document at the item's URL, from its last response; nil for a single file.
  ///
  /// Without further files the item is still kept as a single file.
  package var form: BundleForm?
  package var seconds: Double?
  /// Last declared tag of the ad of an ad space, whose record has no server's URL.
  package var address: String?

  package init() {}
}

extension ContentRecord {
  package var caption: ItemCaption {
    get { traits.caption }
    set { traits.caption = newValue }
  }

  package var form: BundleForm? {
    get { traits.form }
    set { traits.form = newValue }
  }

  package var seconds: Double? {
    get { traits.seconds }
    set { traits.seconds = newValue }
  }

  package var address: String? {
    get { traits.address }
    set { traits.address = newValue }
  }
}

package struct ContentRecord: Hashable, Sendable {
  package var url: String
  package var id: String
  package var provider: String?
  package var type: String?
  package var state = ItemState.pending
  package var digest: ContentDigest?
  package var otherDigests: [DigestAlgorithm: [UInt8]] = [:]
  package var description: UInt64 = 0
  package var size: Int64 = 0
  package var mime: String?
  package var status: Int?
  package var headers = HeaderBlock()
  package var validators = Validators()
  package var finalURL: String?
  package var fetchedAt: Instant?
  package var validatedAt: Instant?
  package var freshness = Freshness.undeclared(until: .distantFuture)
  package var hops: [HopTerms] = []
  package var variance: Variance?
  /// Expiry that the manifest declares; the content must not be used after it.
  package var expiresAt: Instant?
  package var lifetime: Freshness.Lifetime?
  package var failure: Failure?
  package var categories: [String] = []
  package var thumbnail: String?
  package var traits = ContentTraits()
  /// Files of an item that consists of several; its body may be among them.
  package var files: [BundleFile] = []
  package var isPassedThrough = false

  package func origin(in segments: [String]) -> ItemOrigin {
    guard segments.isEmpty else { return .segment }
    return isPassedThrough ? .passthrough : .onDemand
  }

  /// URL to show and to report: the record's URL, or the tag of an ad space.
  package var shownURL: String { address ?? url }

  package var wholeSize: Int64 {
    otherFiles.reduce(size) { $0.addingSaturated($1.size) }
  }

  /// Whether the body is a file that the user adopted, without a server's response.
  package var isImported: Bool {
    status == nil && validators.lastModified != nil && !headers.has(.lastModified)
  }

  package func isImported(like headers: HeaderBlock, size reported: Int64?) -> Bool {
    isImported && reported == size
      && headers[.lastModified].flatMap { HTTPDate.parse($0) }
        == validators.lastModified.flatMap { HTTPDate.parse($0) }
  }

  package var otherFiles: [BundleFile] {
    files.filter { $0.digest != digest }
  }

  package init(url: String, id: String) {
    self.url = url
    self.id = id
  }
}

package enum StoreChange: Sendable {
  /// Adds or changes a record and its segments; its body and new further files become objects.
  indirect case store(
    ContentRecord,
    body: StagedBody?,
    otherBodies: [StagedBody] = [],
    joining: [SegmentKey]
  )
  /// Adds bodies of items that had no record; each joins the segment that requested it.
  case arrived([Arrival])
  /// Updates only times, many at once: a run over unchanged servers changes nothing else.
  case confirm([Confirmation])
  case join(SegmentKey, items: [Int64])
  /// Adds records, too new for known numbers, to a segment; they must exist.
  case joinNew(SegmentKey, urls: [String])
  /// Removes records from a segment; records and objects that nothing else holds are deleted.
  case leave(SegmentKey, items: [Int64])
  /// Changes a segment's record; `manifest` is the body of a newly accepted manifest.
  indirect case segment(SegmentRecord, manifest: StagedBody?)
  /// Replaces all further documents of a segment's manifest; `bodies` are the new ones.
  indirect case documents(SegmentKey, [DocumentRecord], bodies: [StagedBody])
  /// Evicts bodies to make room, except those that other identities declare; items held by a
  /// segment keep their records, which then give the reason.
  case evict([ContentDigest], for: String, because: Failure? = nil)
  case forget(SegmentKey)
  /// Records the newest `Date` that a server sent.
  case dated(Instant)
  /// Records the first sight of a body at a URL whose record exists.
  case sighted(String, Sight)

  package var bodies: [StagedBody] {
    switch self {
    case .arrived(let arrivals): arrivals.map(\.body)
    case .store(_, let body, let others, _): (body.map { [$0] } ?? []) + others
    case .segment(_, let manifest): manifest.map { [$0] } ?? []
    case .documents(_, _, let bodies): bodies
    case .confirm, .join, .joinNew, .leave, .evict, .forget, .dated, .sighted: []
    }
  }
}

/// Record that was deleted because nothing holds it.
package struct RemovedContent: Hashable, Sendable {
  package var url: String
  package var id: String
  package var size: Int64
  package var hadBody = true
  package var wasEvicted = false
  package var segments: [SegmentKey] = []

  package init(url: String, id: String, size: Int64) {
    self.url = url
    self.id = id
    self.size = size
  }
}

extension Instant {
  package static let distantFuture = Instant(milliseconds: .max)
}

/// Degree to which a commit must survive a power cut.
package enum Durability: String, Hashable, Sendable, CaseIterable {
  case none
  /// Flushes the file system once per commit.
  case batch
  /// Flushes each file separately, where flushing everything would disturb others.
  case each
}
