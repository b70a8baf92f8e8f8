/// A segment under way.
struct SegmentWork: Sendable {
  enum Phase: Hashable, Sendable {
    /// The manifest is asked for or being read.
    case discovering
    /// Its items are being taken in, slice by slice.
    case planning
    /// Its items are known.
    case planned
    /// Its items have settled, and its tree is being made.
    case publishing
    case settled
  }

  var declaration: SegmentDeclaration
  let key: SegmentKey
  /// As the last run left it.
  var recorded: SegmentRecord?
  /// Its own name, as most facts need it.
  let names: [String]
  var phase = Phase.discovering
  /// Its documents that are asked for and not answered.
  var asked: Set<Int> = []
  /// Whether a document of it was asked for in vain once.
  var hasStumbled = false
  /// The first priority among segments whose items wait for its list.
  var raisedPriority: Int?
  /// Whom it keeps from starting.
  var holdback: Holdback?
  /// What last stood in the way of one of its requests.
  var trouble: RequestTrouble?
  /// Until when, as uptime, the request waits that met it.
  var troubledUntil: Duration?
  /// Nil before it is asked for.
  var expectation: Expectation?

  /// What its items bring in all, as they are declared; nil where one of them tells no size.
  struct Expectation: Sendable {
    var bytes: Int64?
  }
  var manifest: ManifestResult
  /// What the next run will find recorded, once the manifest is accepted.
  var accepted: SegmentRecord?
  /// Who names its items: a server out there, or anything nearer.
  var provenance = Provenance.local
  /// Whether its documents are still wanted: false once one of them has failed, or all are here.
  var isGathering = true
  /// Documents that are asked for or being read.
  var openDocuments = 0
  var parts = PartCount()
  var hasParts = false
  /// Further documents as the last run left them, by their URLs.
  var knownDocuments: [String: DocumentRecord]
  /// Servers that its manifest says have the same paths.
  var mirrors: [WebURL] = []
  /// What the manifest itself says its references are relative to.
  var statedBase: WebURL?
  /// In a box: it is handed around where the table would be copied column by column.
  private(set) var table = Shared(EntryTable())
  /// Of the origins in it that were asked for.
  var hosts: [Int: HostID] = [:]
  /// Of the same.
  var orderTerms: [Int: OrderTerms] = [:]
  /// Nil until it is asked for.
  var asksPlainly: Bool?
  /// What is granted to answers for its plain items.
  var granted: [Freshness.Lifetime]?
  var steps = StepLine()
  var openItems = 0
  /// Rows of the inventory that the segment lets go of.
  var leaving: [UInt32] = []
  /// Rows that its list dropped, until all its items have ended.
  var unlisted: [UInt32] = []
  /// Rows whose entries are past their `expires`, until the segment's items have ended.
  var expired: [UInt32] = []
  /// Those of them that stay for want of their successors.
  var retained: [UInt32] = []
  var retention = Retention()
  /// The whole list, until its rows are known, where the segment's rules leave some of it out.
  var unselected: Shared<EntryTable>?
  var declaredCount = 0
  /// Whether it is known what it declares.
  var isDeclared = false
  var usableCount = 0
  var usableBytes: Int64 = 0
  var hasFailures = false
  /// What was last told of how it stands.
  var told: SegmentResult?
  /// What entries without a name of their own would be called in the published tree.
  var heldNames: [String] = []
  /// Items whose stored body is the answer to another segment.
  var otherVariants: Set<URLKey> = []
  /// Whether another segment of the run names some of its URLs too.
  var hasShared = false
  var deferral: Deferral?
  /// Whether the run was interrupted before the segment's end.
  var isInterrupted = false
  /// Why the list of the last run stands in for the one of this run.
  var lastList: LastList?
  /// Until when every item holds without a question.
  var quietUntil = Instant.distantFuture

  /// What holds back every item, since no list may be asked for now.
  var heldBack: Deferral? {
    if case .deferred(let deferral) = lastList { deferral } else { nil }
  }

  var entries: EntryTable {
    get { table.value }
    set {
      table = Shared(newValue)
      hosts = [:]
      orderTerms = [:]
      asksPlainly = nil
      granted = nil
    }
  }

  /// What the paths of its items are relative to.
  var base: WebURL? {
    statedBase ?? declaration.base
      ?? (accepted ?? recorded)?.manifestFinalURL.flatMap { try? WebURL($0) }
  }

  /// Whether its list, and everything of it that it requires, holds as servers last said.
  ///
  /// A list that lies here is asked of nobody.
  var isConfirmed: Bool {
    if case .remote = declaration.source, manifest.status == .skipped { return false }
    return !retention.hasStale
  }

  var priority: Int? {
    declaration.priority ?? accepted?.priority
  }

  /// As far as it is known by now, for who goes first.
  var knownPriority: Int? {
    declaration.priority ?? (accepted ?? recorded)?.priority
  }

  /// Its documents go as early as what waits for them.
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

  mutating func noteQuiet(until: Instant?) {
    quietUntil = min(quietUntil, until ?? Instant(milliseconds: .min))
  }
}

/// Why a segment goes by the list that its last run accepted; nothing is removed then.
enum LastList: Sendable {
  /// No list may be asked for now: its items are listed as deferred.
  case deferred(Deferral)
  /// The list of this run could not be had, or may not take its place: the items of the last one are
  /// kept true.
  case unread
  /// The list of this run may be forged or old, or something else came in its place, as a login
  /// portal's page does: of the last one, only what it pins by digest is asked for.
  case untrusted

  /// Nil where a failure of that kind forbids to ask for anything; `wasRead` tells a list that a
  /// guard refused from what is no list.
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

/// What an item needs from its first request to its last commit.
///
/// An object, since a value would be copied whole at every look at a part of it. No code sees
/// the difference: a dispatcher cannot be copied, and each belongs to one.
final class ActiveItem {
  /// As the segment that it was planned for declares it.
  let entry: ManifestEntry
  /// Those that any segment declares for it, all of which must hold.
  var digests: [ExpectedDigest]
  /// As the index had it when its turn came.
  var record: Shared<ContentRecord>?
  /// Every segment that names it, the one it was planned for first.
  var segments: [Int]
  /// Those of the segments that are as declared without it.
  var sparing: [Int] = []
  var exchange: ExchangeBox?
  /// Those of the segments that ask for it with other headers than the first.
  var rivals: [Rivalry] = []
  /// Those of the segments that declare something of their own of it, besides the first.
  var sharers: [Dispatcher.Sharer] = []
  /// Those segments whose answer is stored while this one's is asked for with other headers.
  var elders: [Rivalry] = []
  /// Whether what has to be known of it is being read.
  var isBeingRead = false
  /// Whether it is being found out whose it is; what else was being read is read again with that.
  var isBeingClaimed = false
  /// When it turned out first that another run has it under way.
  var refusedSince: Duration?
  /// What a person has said of it since it began, by which it ends.
  var control: ItemControl?
  /// What was kept of its body when it was claimed.
  var leftPart: PartialBody?
  /// Whether its host is not asked any more, and only its record is waited for.
  var isTurnedAway = false
  /// Whether that was done, whatever came of it.
  var isRead = false
  /// In a dry run: other segments that would refuse the body, and why.
  var foreseenRefusals: [(sharer: Dispatcher.Sharer, failure: Failure)] = []
  /// What was read before its turn came.
  var prepared: Prepared?
  /// Whether another segment has an item of its own for the same URL, of which this one's failure says
  /// nothing.
  var hasTwin = false
  /// Bytes that the cache's own limit leaves for it, where that is less than any other limit.
  var roomLimit: Int64?
  /// Bytes that the disk has for it, where its size was not told.
  var diskLimit: Int64?
  /// When the origin said what a second tier has told.
  var toldAt: Instant?
  /// The size of a body that has to come whole, as an answer told it.
  var toldSize: Int64?
  /// Among the ranks that its segments give it the first, where there are several.
  var sharedRank: Rank?
  /// Where it takes a place on the wire.
  var host: HostID?
  var result: ItemResult

  /// Requests that went out for it.
  var attempts: Int {
    exchange?.value.attempts ?? 0
  }

  /// The digests by which any of its segments may judge a body.
  var wantedDigests: [ExpectedDigest] {
    digests + rivals.flatMap(\.digests) + sharers.flatMap(\.entry.digests)
  }

  /// The segments by whose declarations a body is judged together: the others judge it alone.
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
    if !entry.isRequired { sparing = [segment] }
    self.result = result
  }
}

/// An exchange in a place of its own, so that a look at one part of it copies none of the others.
final class ExchangeBox {
  var value: Exchange

  init(_ value: Exchange) {
    self.value = value
  }
}

/// A small, seedable source of jitter (SplitMix64), so that runs can be replayed.
struct Jitter: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// In 0..<1.
  mutating func next() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}
