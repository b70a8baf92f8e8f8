/// A document of a segment that the run requests or reads: its manifest, a part or a signature.
struct DocumentWork {
  enum Role: Hashable, Sendable {
    case manifest
    case further(FurtherDocument)
    case signature(of: Int)
  }

  let segment: Int
  let role: Role
  let url: WebURL?
  let namer: Provenance
  var stored: DocumentRecord?
  /// Newer record of another configuration for the same request; a 304 makes it ours.
  var offered: DocumentRecord?
  var exchange: ExchangeBox?
  var lookup = PageLookup.none
  var isBeingLookedUp = false
  var isLookedUp = false
  var isClaimed = false
  /// Uptime at which the claim was first refused.
  var refusedSince: Duration?
  var host: HostID?
  /// Provenance of the URLs in the document; `namer` until a server has answered.
  var provenance: Provenance
  var bytes: ManifestSource.Bytes?
  var staged: StagedBody?
  var mime: String?
  var link = PageHint.Link.unstated
  var finalURL: WebURL?
  /// Record for the next run; a manifest is recorded with its segment instead.
  var accepted: DocumentRecord?
  var manifest: Manifest?
  var children: [Int] = []
  var signature: Int?
  var isDropped = false

  init(segment: Int, role: Role, url: WebURL?, named provenance: Provenance) {
    self.segment = segment
    self.role = role
    self.url = url
    namer = provenance
    self.provenance = provenance
  }

  var furtherDocument: FurtherDocument? {
    if case .further(let document) = role { document } else { nil }
  }

  var isSignature: Bool {
    if case .signature = role { true } else { false }
  }
}

enum PageLookup: Sendable {
  case none
  case reading
  case done
}

/// Counts and limits of the further documents that a segment's manifest names.
struct DocumentCount: Sendable {
  private static let maximumItems = 10_000_000
  private static let maximumBytes: Int64 = 4 << 30

  private var pages = 0
  private var sitemaps = 0
  private var indexes = 0
  private var urls: Set<String> = []
  private var items = 0
  private var bytes: Int64 = 0

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

  /// Returns whether a part must be fetched; throws beyond a limit, or if pages form a cycle.
  mutating func admit(_ document: FurtherDocument) throws(Failure) -> Bool {
    let isNew = urls.insert(document.url.string).inserted
    switch document.kind {
    case .page, .hubTree:
      guard isNew else {
        throw Failure(.manifestInvalid, "its pages come back to `\(document.url.redacted)`")
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
    case .dates:
      // Packages beyond the limit count from their first sight.
      guard isNew, indexes < 10_000 else { return false }
      indexes += 1
    case .checksums:
      guard isNew else { return false }
      indexes += 1
      guard indexes <= 10_000 else { throw Self.surplus("10,000 lists of checksums") }
    }
    return true
  }

  /// Records the URL of the manifest, to which no page may lead back.
  mutating func begin(at url: WebURL?) {
    if let url { urls.insert(url.string) }
  }

  private static func surplus(_ limit: String) -> Failure {
    Failure(.manifestInvalid, "it has more than \(limit)")
  }
}
