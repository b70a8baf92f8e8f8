/// What the cache holds and how it changes; the engine's only door to it.
package protocol ContentStore: BodyStaging {
  associatedtype Staging: BodyStaging & Sendable
  /// Where its bodies arrive, for any thread to use.
  var staging: Staging { get }
  /// Reads all records, or those of some URLs, in one pass and without text.
  func takeInventory(of urls: [String]?) throws(Failure) -> Inventory
  /// What is stored under these numbers, in that order; nil for what is gone.
  ///
  /// An id that would have to be made of the URL may be empty.
  func stored(_ items: [Int64]) throws(Failure) -> [(any StoredAnswer)?]
  /// Whether objects may have been lost, or come, since the last run looked: a look at 256 times.
  func hasUnseenChanges() throws(Failure) -> Bool
  /// Which of the inventory's objects are no longer in the file system: names are read only where
  /// a folder changed since the last run.
  func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest>
  /// The same by its URL.
  func stored(url: String) throws(Failure) -> (any StoredAnswer)?
  /// Begins to tell other runs what this one asks for, and ends it.
  func beginClaims() throws(Failure)
  func endClaims()
  /// Whether other runs are at work; what they ask for has to be claimed from then on.
  func hasCompany() throws(Failure) -> Bool
  /// Whether each of these URLs is ours to ask for, until it is released.
  func claim(_ urls: [String]) throws(Failure) -> [Bool]
  func release(_ urls: [String])
  /// What people have said, since claims began, of items at these URLs; nil for nothing.
  func controls(of urls: [String]) throws(Failure) -> [ItemControl?]
  /// The document at a URL that any configuration was given last, having asked for it in this way.
  func document(at url: String, asked: UInt64) throws(Failure) -> DocumentRecord?
  /// The size of an object that no row names, once it was hashed and found whole.
  func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64?
  /// Whether objects may be here that a lost index named.
  func seeksLostBodies() throws(Failure) -> Bool
  /// An object that no row names and that has one of these digests.
  func lostBody(_ digests: [ExpectedDigest]) throws(Failure) -> FoundBody?
  /// Every segment that any configuration recorded here.
  func segments() throws(Failure) -> [SegmentRecord]
  /// Applies changes in order, all or nothing. Bodies are durable before the records that name them.
  /// Returns what disappeared because nothing holds it any more.
  ///
  /// What would make the index name more bytes than `limit`, and more than before, is refused as
  /// `cache_full`: others commit, too.
  func commit(_ changes: [StoreChange], within limit: Int64?) throws(Failure) -> [RemovedContent]
  /// Another number than before means that another process has written.
  func dataVersion() throws(Failure) -> Int64?
  /// The bytes of all bodies that the index names, each once.
  func usedBytes() throws(Failure) -> Int64
  /// Of the file system that it is on; nil where that is not known.
  func diskSpace() throws(Failure) -> DiskSpace?
  /// What the cache holds, as room is made of it.
  func takeStock() throws(Failure) -> Stock
  /// The bytes of a stored body, mapped for the length of the call.
  func withObject<Result>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result
  /// The parts of bodies that earlier runs kept, by the URL they were asked for.
  func partials() throws(Failure) -> [String: PartialBody]
  /// The part that is kept of one now.
  func partial(_ key: String) throws(Failure) -> PartialBody?
  /// Drops a kept part, for example because its server has a newer body.
  func forgetPartial(_ key: String)
  /// Of the digests of request headers in this store.
  func varianceKey() throws(Failure) -> VarianceKey
}

extension ContentStore {
  package func takeInventory() throws(Failure) -> Inventory {
    try takeInventory(of: nil)
  }
}

/// A store that no other process uses.
extension ContentStore {
  package func stored(url: String) throws(Failure) -> (any StoredAnswer)? { nil }
  package func beginClaims() {}
  package func endClaims() {}
  package func hasCompany() -> Bool { false }
  package func seeksLostBodies() -> Bool { false }
  package func lostBody(_ digests: [ExpectedDigest]) -> FoundBody? { nil }
  package func dataVersion() -> Int64? { nil }
  package func partial(_ key: String) -> PartialBody? { nil }
  package func claim(_ urls: [String]) -> [Bool] { urls.map { _ in true } }
  package func release(_ urls: [String]) {}
  package func controls(of urls: [String]) -> [ItemControl?] { urls.map { _ in nil } }
  package func document(at url: String, asked: UInt64) -> DocumentRecord? { nil }
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

/// Which configuration a segment belongs to, and its name.
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

/// A segment as the last runs left it.
package struct SegmentRecord: Hashable, Sendable {
  package var key: SegmentKey
  package var priority: Int?
  /// The manifest's URL, nil for inline segments.
  package var manifestURL: String?
  /// The last good manifest, kept as an object so that a 304 can be read again.
  package var manifest: ContentDigest?
  package var manifestFinalURL: String?
  /// What was sent when it was asked for, as a number.
  package var manifestAsked: UInt64?
  package var validators = Validators()
  /// The manifest's own `generated` time, the mark that a rollback would fall below.
  package var generated: Instant?
  package var itemCount = 0
  /// Where the last run did one part of it, which; nil where it did all.
  package var shard: String?
  package var lastChecked: Instant?
  package var lastSuccess: Instant?
  package var state = SegmentState.incomplete
  /// Set when nothing but time or a new manifest can give the segment work.
  package var quiet: QuietMark?
  /// Whom its items were declared to come from, as ``WebURL/authority``; nil where there are too many
  /// to be remembered.
  package var hosts: [String]? = []
  /// Items that left its list and stay until their successors are stored.
  package var retained: [RetainedItem] = []
  /// What else was read with the manifest, in order; changed by ``StoreChange/documents`` alone.
  package var documents: [DocumentRecord] = []

  package init(key: SegmentKey) {
    self.key = key
  }

  package mutating func note(hosts urls: [WebURL]) {
    let hosts = urls.count > Self.hostLimit ? nil : Set(urls.map(\.authority)).sorted()
    self.hosts = hosts
  }

  private static let hostLimit = 64

  /// It is asked for as if it had never come.
  package mutating func forgetManifest() {
    manifest = nil
    manifestFinalURL = nil
    validators = Validators()
  }

  /// What it has of its manifest, or of what belongs to that.
  package func document(at url: String) -> DocumentRecord? {
    guard manifestURL == url, let manifest else { return documents.first { $0.url == url } }
    var record = DocumentRecord(url: url, digest: manifest)
    record.finalURL = manifestFinalURL
    record.validators = validators
    record.asked = manifestAsked
    return record
  }

  /// The objects of its manifest and all that belongs to it.
  package var manifests: [ContentDigest] {
    [manifest].compactMap(\.self) + documents.map(\.digest)
  }
}

/// A further document of a segment's manifest, kept as an object so that a 304 can be read again: a
/// part of it, or a signature.
package struct DocumentRecord: Hashable, Sendable {
  package var url: String
  /// The URL that gave the validators.
  package var finalURL: String?
  package var validators = Validators()
  /// What was sent when it was asked for, as a number.
  package var asked: UInt64?
  package var digest: ContentDigest
  /// When a signed part says that it was made.
  package var generated: Instant?
  package var isSignature = false

  package init(url: String, digest: ContentDigest) {
    self.url = url
    self.digest = digest
  }
}

/// A segment that is complete: as long as its manifest stays the same there is nothing to look at.
package struct QuietMark: Hashable, Sendable {
  /// The first moment at which an item of it becomes stale or expires.
  package var until: Instant
  /// Of everything besides the manifest that decides about items: a change ends the quiet.
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

/// A server's word that a stored body still holds, with nothing else changed.
package struct Confirmation: Hashable, Sendable {
  /// The record's number.
  package var item: Int64
  package var validatedAt: Instant
  package var freshness: Freshness
}

/// On whose account an item is in the cache.
package enum ItemOrigin: String, Hashable, Sendable, CaseIterable {
  /// A segment holds it.
  case segment
  /// It was asked for by its URL.
  case onDemand = "on_demand"
  /// A client of the server over the cache asked for it.
  case passthrough
}

/// Facts that only a few items have, beside those of their bodies.
package struct ContentTraits: Hashable, Sendable {
  package var caption = ItemCaption()
  /// Form of the document under its URL, as the last answer showed it; nil for one file.
  ///
  /// The item is kept as one file all the same where its record has no further files.
  package var form: BundleForm?
  /// Length of what an ad shows, as its servers state it.
  package var seconds: Double?
  /// Tag that was last declared for the ad of an ad space, whose record has no URL of a server.
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

/// What the store knows of one URL.
package struct ContentRecord: Hashable, Sendable {
  package var url: String
  package var id: String
  package var provider: String?
  package var type: String?
  package var state = ItemState.pending
  /// Nil as long as no body was ever complete.
  package var digest: ContentDigest?
  /// Digests besides SHA-256 that the body was seen to have.
  package var otherDigests: [DigestAlgorithm: [UInt8]] = [:]
  /// What the manifest said of it, as ``ManifestEntry/descriptionHash`` makes it.
  package var description: UInt64 = 0
  package var size: Int64 = 0
  package var mime: String?
  /// Of the response that brought or last confirmed the body.
  package var status: Int?
  package var headers = HeaderBlock()
  package var validators = Validators()
  package var finalURL: String?
  package var fetchedAt: Instant?
  package var validatedAt: Instant?
  /// What the answers state about how long it may be used unasked.
  package var freshness = Freshness.silent(until: .distantFuture)
  /// The redirects that led to the body when it was last asked for, in their order.
  package var hops: [HopTerms] = []
  /// On what of a request the answers depend; nil for nothing.
  package var variance: Variance?
  /// Content expiry by the manifest: not to be used after it.
  package var expiresAt: Instant?
  /// What its entry grants of freshness.
  package var lifetime: Freshness.Lifetime?
  package var failure: Failure?
  package var categories: [String] = []
  /// The URL of the picture that belongs to it.
  package var thumbnail: String?
  package var traits = ContentTraits()
  /// Whatever there is of it besides its body, where it consists of several files.
  package var files: [BundleFile] = []
  /// Whether a client of the server over the cache was the first to ask for it.
  package var isPassedThrough = false

  package func origin(in segments: [String]) -> ItemOrigin {
    guard segments.isEmpty else { return .segment }
    return isPassedThrough ? .passthrough : .onDemand
  }

  /// URL for people and servers: that of the record, or the tag of an ad space.
  package var shownURL: String { address ?? url }

  /// The bytes of all its files.
  package var wholeSize: Int64 {
    otherFiles.reduce(size) { $0.addingSaturated($1.size) }
  }

  /// Whether its body is a file that a user brought, with the time of that file and no answer of any
  /// server.
  package var isImported: Bool {
    status == nil && validators.lastModified != nil && !headers.has(.lastModified)
  }

  /// Whether the head of an answer describes the very file that was brought.
  package func isImported(like headers: HeaderBlock, size told: Int64?) -> Bool {
    isImported && told == size
      && headers[.lastModified].flatMap { HTTPDate.parse($0) }
        == validators.lastModified.flatMap { HTTPDate.parse($0) }
  }

  /// Without the one that is its body, where that is among them.
  package var otherFiles: [BundleFile] {
    files.filter { $0.digest != digest }
  }

  package init(url: String, id: String) {
    self.url = url
    self.id = id
  }
}

/// One change of the index.
package enum StoreChange: Sendable {
  /// A record is new or different and belongs to these segments besides its old ones; its body, if
  /// any, becomes an object.
  /// `besides` are those of its further files that are new.
  indirect case store(
    ContentRecord,
    body: StagedBody?,
    besides: [StagedBody] = [],
    joining: [SegmentKey]
  )
  /// Bodies of items of which nothing was here; each belongs to the segment that asked for it.
  case arrived([Arrival])
  /// Times alone; many at once, since a run over unchanged servers brings nothing else.
  case confirm([Confirmation])
  /// These records belong to the segment from now on.
  case join(SegmentKey, items: [Int64])
  /// The same for records so new that their numbers are not known; they must exist.
  case joinNew(SegmentKey, urls: [String])
  /// These records belong to it no more; records and objects that nothing holds disappear.
  case leave(SegmentKey, items: [Int64])
  /// The segment's own facts; `manifest` is the body of a newly accepted manifest.
  indirect case segment(SegmentRecord, manifest: StagedBody?)
  /// All further documents of a segment's manifest, in the place of those that it had; `bodies` are
  /// the new ones among them.
  indirect case documents(SegmentKey, [DocumentRecord], bodies: [StagedBody])
  /// Whatever names these bodies lets go of them, to make room: items that a segment holds keep their
  /// records, which then say why. What another identity than this one declares stays.
  case evict([ContentDigest], for: String, because: Failure? = nil)
  /// The segment was removed from its configuration, or unsubscribed: as `leave` of everything.
  case forget(SegmentKey)
  /// A server told this `Date`, the newest of all.
  case dated(Instant)

  /// What it brings into the store.
  package var bodies: [StagedBody] {
    switch self {
    case .arrived(let arrivals): arrivals.map(\.body)
    case .store(_, let body, let parts, _): (body.map { [$0] } ?? []) + parts
    case .segment(_, let manifest): manifest.map { [$0] } ?? []
    case .documents(_, _, let bodies): bodies
    case .confirm, .join, .joinNew, .leave, .evict, .forget, .dated: []
    }
  }
}

/// A record that was dropped because nothing holds it.
package struct RemovedContent: Hashable, Sendable {
  package var url: String
  package var id: String
  package var size: Int64
  /// Whether there ever was a body of it.
  package var hadBody = true
  /// Whether it went to make room.
  package var wasEvicted = false
  /// The segments that let go of it.
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

/// How much of a power cut a commit must survive.
package enum Durability: String, Hashable, Sendable, CaseIterable {
  /// Nothing is forced to disk.
  case none
  /// One flush of the file system a commit.
  case batch
  /// Each file by itself, where a flush of everything would disturb others.
  case each
}
