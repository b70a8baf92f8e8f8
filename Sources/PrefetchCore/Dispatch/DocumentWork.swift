/// A document under way for a segment: its manifest, a part of that, or what signs one of them.
struct DocumentWork {
  enum Role: Hashable, Sendable {
    case manifest
    case part(ManifestPart)
    /// Of the document of that number.
    case signature(of: Int)
  }

  let segment: Int
  let role: Role
  /// Nil for local files.
  let url: WebURL?
  /// Who named it.
  let namer: Provenance
  /// As the last run left it; nil where that is not to be used again.
  var stored: DocumentRecord?
  /// What another configuration was given since then for the same question, which is asked for by its
  /// validators: a 304 makes it ours.
  var offered: DocumentRecord?
  var exchange: ExchangeBox?
  /// Whether an index page is read as the last run left it, to see whether its server has to be asked.
  var lookup = PageLookup.none
  /// Whether it is being looked what other runs have of it, or was.
  var isBeingLookedUp = false
  var isLookedUp = false
  /// Whether no other run asks for it meanwhile.
  var isClaimed = false
  /// When it turned out first that another run has it under way.
  var refusedSince: Duration?
  var host: HostID?
  /// Who served it, and so names what stands in it; until it is asked, who named it.
  var provenance: Provenance
  /// Where its bytes are; nil until they are here.
  var bytes: ManifestSource.Bytes?
  var staged: StagedBody?
  var mime: String?
  /// Where it came from in the end.
  var finalURL: WebURL?
  /// What the next run will find recorded of it; of manifests the segment's own record tells.
  var accepted: DocumentRecord?
  /// What stands in it, until all that belongs together is put together.
  var manifest: Manifest?
  /// The numbers of its parts, in order.
  var parts: [Int] = []
  /// The number of what signs it.
  var signature: Int?
  /// Whether the segment has let go of it, so that nothing waits for its answer.
  var isDropped = false

  init(segment: Int, role: Role, url: WebURL?, named provenance: Provenance) {
    self.segment = segment
    self.role = role
    self.url = url
    namer = provenance
    self.provenance = provenance
  }

  var part: ManifestPart? {
    if case .part(let part) = role { part } else { nil }
  }

  var isSignature: Bool {
    if case .signature = role { true } else { false }
  }
}

/// How far a run is with the stored page of a package index, before anybody is asked.
enum PageLookup: Sendable {
  case none
  case reading
  case done
}

/// How many further documents a segment's manifest named, and which, and what all of them hold.
struct PartCount: Sendable {
  private static let maximumItems = 10_000_000
  private static let maximumBytes: Int64 = 4 << 30

  private var pages = 0
  private var sitemaps = 0
  private var indexes = 0
  private var urls: Set<String> = []
  private var items = 0
  private var bytes: Int64 = 0

  /// Takes account of what one of the documents holds.
  mutating func add(_ manifest: Manifest) throws(Failure) {
    items += manifest.itemCount
    bytes = bytes.addingSaturated(manifest.document.bytes)
    guard items <= Self.maximumItems else {
      throw Failure(
        .manifestInvalid,
        "with it the documents of the manifest list more than \(Self.maximumItems) items together"
      )
    }
    guard bytes <= Self.maximumBytes else {
      throw Failure(
        .tooLarge,
        "with it the documents of the manifest have more than \(Self.maximumBytes) bytes together"
      )
    }
  }

  /// Whether the part is to be fetched; throws where that would never end.
  ///
  /// A page that comes again is a circle; anything else that does is the same list twice.
  mutating func admit(_ part: ManifestPart) throws(Failure) -> Bool {
    let isNew = urls.insert(part.url.string).inserted
    switch part.kind {
    case .page:
      guard isNew else {
        throw Failure(.manifestInvalid, "its pages come back to `\(part.url.redacted)`")
      }
      pages += 1
      guard pages <= 100 else { throw Self.surplus("100 further pages") }
    case .sitemap(let level):
      guard level <= 2 else {
        throw Failure(.manifestInvalid, "its sitemap indexes are nested in more than one other")
      }
      guard isNew else { return false }
      sitemaps += 1
      guard sitemaps <= 1_000 else { throw Self.surplus("1,000 sitemaps") }
    case .packageIndex, .moduleSource:
      guard isNew else { return false }
      indexes += 1
      guard indexes <= 10_000 else { throw Self.surplus("10,000 packages") }
    }
    return true
  }

  /// The manifest itself, which no page may lead back to.
  mutating func begin(at url: WebURL?) {
    if let url { urls.insert(url.string) }
  }

  private static func surplus(_ limit: String) -> Failure {
    Failure(.manifestInvalid, "it has more than \(limit)")
  }
}
