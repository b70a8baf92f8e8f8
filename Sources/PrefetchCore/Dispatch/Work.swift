/// State of a segment during a run.
struct SegmentWork: Sendable {
  enum Phase: Hashable, Sendable {
    case discovering
    case planning
    case planned
    case publishing
    case settled
  }

  var declaration: SegmentDeclaration
  let key: SegmentKey
  var recorded: SegmentRecord?
  let names: [String]
  var phase = Phase.discovering
  var requestedDocuments: Set<Int> = []
  /// Whether a document request had to be repeated; then no other segment waits for this one.
  var hadDocumentRetry = false
  var raisedPriority: Int?
  /// Start barrier: jobs ranked after it wait until the segment's items are known.
  var barrier: StartBarrier?
  var trouble: RequestTrouble?
  /// Uptime until which the request of `trouble` waits.
  var troubledUntil: Duration?
  var expectedBytes: ExpectedBytes?

  /// Declared bytes of the items to fetch; nil if any size is unknown.
  struct ExpectedBytes: Sendable {
    var bytes: Int64?
  }
  var manifest: ManifestResult
  var accepted: SegmentRecord?
  var provenance = Provenance.local
  var isGathering = true
  var openDocuments = 0
  var documentCount = DocumentCount()
  var hasFurtherDocuments = false
  var knownDocuments: [String: DocumentRecord]
  /// Servers with the same paths, according to the manifest.
  var mirrors: [WebURL] = []
  var statedBase: WebURL?
  /// Boxed, since a copy of the table would copy every column.
  private(set) var table = Shared(EntryTable())
  var hosts: [Int: HostID] = [:]
  var orderTerms: [Int: OrderTerms] = [:]
  var entrySuffices: Bool?
  var granted: [Freshness.Lifetime]?
  var steps = StepQueue()
  var openItems = 0
  var leaving: [UInt32] = []
  var unlisted: [UInt32] = []
  var expired: [UInt32] = []
  var retained: [UInt32] = []
  var retention = Retention()
  /// Full list, if rules of the segment exclude a part; nil once its rows are known.
  var unselected: Shared<EntryTable>?
  var declaredCount = 0
  var isDeclared = false
  var usableCount = 0
  var usableBytes: Int64 = 0
  var hasFailures = false
  var lastAnnouncedStatus: SegmentResult?
  /// Names of refused entries in the published tree, whose files stay as they are.
  var heldNames: [String] = []
  /// Items whose stored body is the answer to another segment's request.
  var otherVariants: Set<URLKey> = []
  var hasShared = false
  var deferral: Deferral?
  var isInterrupted = false
  var lastList: LastList?
  var quietUntil = Instant.distantFuture

  var deferralOfAll: Deferral? {
    if case .deferred(let deferral) = lastList { deferral } else { nil }
  }

  var entries: EntryTable {
    get { table.value }
    set {
      table = Shared(newValue)
      hosts = [:]
      orderTerms = [:]
      entrySuffices = nil
      granted = nil
    }
  }

  var base: WebURL? {
    statedBase ?? declaration.base
      ?? (accepted ?? recorded)?.manifestFinalURL.flatMap { try? WebURL($0) }
  }

  /// Whether servers have confirmed the list and all required items; a local list needs no request.
  var isConfirmed: Bool {
    if case .remote = declaration.source, manifest.status == .skipped { return false }
    return !retention.hasStale
  }

  /// Whether everything that may be taken is here: the rest is too young.
  var onlyWaitsForAge: Bool {
    deferral?.rule == .age && accepted?.state == .deferred && !isInterrupted
  }

  var priority: Int? {
    declaration.priority ?? accepted?.priority
  }

  var knownPriority: Int? {
    declaration.priority ?? (accepted ?? recorded)?.priority
  }

  /// Priority of the documents: as urgent as any segment that waits for them.
  var documentPriority: Int? {
    guard let raisedPriority else { return knownPriority }
    return min(knownPriority ?? raisedPriority, raisedPriority)
  }

  init(
    declaration: SegmentDeclaration,
    key: SegmentKey,
    recorded: SegmentRecord?,
    manifest: ManifestResult
  ) {
    self.declaration = declaration
    self.key = key
    self.recorded = recorded
    self.manifest = manifest
    names = [declaration.name]
    knownDocuments = Dictionary((recorded?.documents ?? []).map { ($0.url, $0) }) { first, _ in
      first
    }
  }

  mutating func limitQuiet(until: Instant?) {
    quietUntil = min(quietUntil, until ?? Instant(milliseconds: .min))
  }
}

/// Reason for using the list of the last run, under which nothing is removed.
enum LastList: Sendable {
  /// No list may be requested now: the items are listed as deferred.
  case deferred(Deferral)
  /// The new list is missing or refused: the items of the old one are kept up to date.
  case unread
  /// The new list may be forged, old or a login page: only items pinned by digest are requested.
  case untrusted

  /// Returns nil if the failure forbids all requests; `wasRead` if a guard refused a valid list.
  init?(after failure: Failure, wasRead: Bool) {
    switch failure.code {
    case .signature, .rollback: self = .untrusted
    case .http, .gone: self = .unread
    case .manifestGuard where wasRead: self = .unread
    case _ where failure.code.category == .connectivity: self = .unread
    case _ where failure.code.category == .content: self = .untrusted
    default: return nil
    }
  }
}

/// State of an item from its first request to its last commit; a class, to avoid copies.
final class ActiveItem {
  let entry: ManifestEntry
  /// Digests that any segment declares; all must match.
  var digests: [ExpectedDigest]
  var record: Shared<ContentRecord>?
  /// Segments that name the item, the planned one first.
  var segments: [Int]
  var optionalIn: [Int] = []
  var exchange: ExchangeBox?
  var headerConflicts: [HeaderConflict] = []
  var sharers: [Dispatcher.Sharer] = []
  /// Segments with other request headers, for which an answer is stored.
  var earlierVariants: [HeaderConflict] = []
  var isBeingRead = false
  /// Whether the claim is being decided; other facts are read again with it.
  var isBeingClaimed = false
  var refusedSince: Duration?
  var control: ItemControl?
  var leftPart: PartialBody?
  /// Whether the host is not asked any more, and only the record is awaited.
  var awaitsRecordOnly = false
  /// Whether the record has been read, with or without a result.
  var isRead = false
  /// Segments that would refuse the body, with reasons; only in a dry run.
  var foreseenRefusals: [(sharer: Dispatcher.Sharer, failure: Failure)] = []
  var prepared: Prepared?
  /// Whether another segment has its own item for the URL, which does not fail with this one.
  var hasTwin = false
  /// Bytes that `cache.size` leaves, if that is the lowest limit.
  var roomLimit: Int64?
  var diskLimit: Int64?
  var originRespondedAt: Instant?
  var reportedSize: Int64?
  /// First of the ranks that several segments give the item.
  var sharedRank: Rank?
  var host: HostID?
  var result: ItemResult

  var attempts: Int {
    exchange?.value.attempts ?? 0
  }

  var wantedDigests: [ExpectedDigest] {
    digests + headerConflicts.flatMap(\.digests) + sharers.flatMap(\.entry.digests)
  }

  /// Segments that judge a body together; sharers judge it alone.
  var judgingSegments: [Int] {
    sharers.isEmpty
      ? segments : segments.filter { index in !sharers.contains { $0.segment == index } }
  }

  func require(_ more: [ExpectedDigest]) {
    digests += more.filter { !digests.contains($0) }
  }

  init(entry: ManifestEntry, segment: Int, result: ItemResult) {
    self.entry = entry
    digests = entry.digests
    segments = [segment]
    if !entry.isRequired { optionalIn = [segment] }
    self.result = result
  }
}

/// Box for an exchange, so that access to a part copies nothing else.
final class ExchangeBox {
  var value: Exchange

  init(_ value: Exchange) {
    self.value = value
  }
}

/// Small, seedable source of jitter (SplitMix64), so that runs can be replayed.
struct Jitter: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}
