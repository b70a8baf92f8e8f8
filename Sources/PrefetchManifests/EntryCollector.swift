internal import PrefetchCore

/// Collects the entries, rejections and warnings of a document while it is read.
struct EntryCollector {
  static let maximumAlternates = 100
  static let maximumDigests = 100

  let bases: NameBases
  /// Prefix that every URL must have when the manifest must stay on its own server; nil otherwise.
  private let ownOrigin: [UInt8]?
  private let ownHost: String?
  private var table = EntryTable { ItemIdentifier.make(for: $0) }
  private var refusals = Refusals()
  private var warnings = Warnings()
  private var identifiers = IdentifierSet()
  private var itemCount = 0

  init(base: WebURL?, staysOnHost: Bool = false) {
    self.init(NameBases(only: base), staysOnHost: staysOnHost)
  }

  init(_ bases: NameBases, staysOnHost: Bool = false) {
    self.bases = bases
    let base = bases.base
    ownHost = staysOnHost ? base?.host : nil
    ownOrigin = staysOnHost ? base.map { Array(Self.origin(of: $0).utf8) } : nil
    if let base { table.resolveReferences(against: base) }
  }

  var base: WebURL? {
    bases.base
  }

  private static func origin(of url: WebURL) -> String {
    "\(url.scheme.rawValue)://\(url.authority)/"
  }

  // MARK: Counting

  /// Message when one more item would exceed the manifest's limits; nil while it fits.
  var surplus: String? {
    ManifestBounds.surplus(items: itemCount + 1, bytes: table.byteCount + refusals.byteCount)
  }

  /// Counts an item; called before the item is added or rejected, unless `surplus` forbids it.
  mutating func count() {
    itemCount += 1
  }

  /// Reserves room for all items once the first 256 have shown how many bytes an item takes.
  mutating func expect(afterBytes consumed: Int, of total: Int) {
    guard itemCount == 256 else { return }
    table.reserveCapacity(
      min(total / max(1, consumed / itemCount) + 1, ManifestBounds.maximumItems)
    )
  }

  // MARK: Adding

  /// Adds an item whose URL is absolute and valid; returns false when the URL must be parsed first.
  mutating func addToColumns(
    _ url: RawSpan,
    id: RawSpan? = nil,
    path: RawSpan? = nil,
    _ details: EntryTable.Details
  ) -> Bool {
    // The table's columns have no room for an item's alternate URLs.
    guard !bases.hasAlternates else { return false }
    if let ownOrigin, !Self.begins(url, with: ownOrigin) { return false }
    guard details.digest?.isNone != true, let address = table.resolve(url) else { return false }
    table.appendURL(url, at: address, id: id, path: path, details)
    return true
  }

  mutating func add(_ entry: ManifestEntry) {
    var entry = entry
    if let alternate = bases.alternate(of: entry.url), !entry.alternates.contains(alternate) {
      entry.alternates.append(alternate)
    }
    if entry.id == nil {
      entry.id = ItemIdentifier.make(for: entry.url)
      entry.isIdentifierMade = true
    }
    if let index = entry.digests.firstIndex(where: { $0.algorithm == .sha256 }), index > 0 {
      entry.digests.insert(entry.digests.remove(at: index), at: 0)
    }
    table.append(entry)
  }

  mutating func add(
    _ url: WebURL,
    id: String? = nil,
    path: String? = nil,
    _ details: EntryTable.Details
  ) {
    let text = Array(url.string.utf8)
    let (idBytes, pathBytes) = (id.map { Array($0.utf8) }, path.map { Array($0.utf8) })
    let isAdded = unsafe addToColumns(
      text.span.bytes,
      id: idBytes?.span.bytes,
      path: pathBytes?.span.bytes,
      details
    )
    guard !isAdded else { return }
    var entry = ManifestEntry(url: url)
    entry.id = id
    entry.path = path
    entry.size = details.size
    entry.published = details.published
    if let digest = details.digest {
      entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest.bytes)]
    }
    if let digest = details.strongDigest {
      entry.digests = [ExpectedDigest(algorithm: .sha512, bytes: digest.bytes)]
    }
    add(entry)
  }

  static func put(_ digests: [ExpectedDigest], into details: inout EntryTable.Details) -> Bool {
    guard let digest = digests.first else { return true }
    guard digests.count == 1 else { return false }
    switch digest.algorithm {
    case .sha256: details.digest = ContentDigest(bytes: digest.bytes)
    case .sha512: details.strongDigest = unsafe StrongDigest(digest.bytes.span.bytes)
    case .md5, .sha1, .sha384, .goZip, .goMod: return false
    }
    return true
  }

  /// Reserves an id; returns false when another item of the document has the id already.
  mutating func admits(id: String) -> Bool {
    identifiers.insert(id, of: nil)
  }

  // MARK: URLs

  func url(_ text: String) throws(Refusal) -> WebURL {
    try declared(text).url
  }

  /// Parses a URL with the digests of its fragment; the words of a refusal follow "it".
  func declared(_ text: String) throws(Refusal) -> DeclaredURL {
    let declared: DeclaredURL
    do throws(WebURL.Fault) {
      declared = try DeclaredURL(text, base: base)
    } catch {
      throw Refusal(message: "it \(error)")
    }
    guard ownHost == nil || declared.url.host == ownHost else {
      throw Refusal(
        message:
          "it is on another host, `\(declared.url.host)`; `cross_host: true` allows this"
      )
    }
    return declared
  }

  static func digests(
    _ others: [ExpectedDigest],
    with urls: DeclaredURL...
  ) throws(Failure) -> [ExpectedDigest] {
    var all = others
    for url in urls {
      guard let digests = url.digests(combinedWith: all) else {
        throw Failure(.manifestInvalid, "its URL and the fields beside it name different digests")
      }
      all = digests
    }
    return all
  }

  struct Refusal: Error {
    var message: String
  }

  // MARK: What fails

  mutating func reject(
    _ text: String,
    id: String? = nil,
    _ code: ErrorCode,
    _ message: String,
    at location: SourceLocation
  ) {
    let failure = Failure(code, NativeManifest.invalid(message, at: location).message)
    refuse(RejectedEntry(url: text, id: id, failure: failure))
  }

  mutating func refuse(_ entry: RejectedEntry) {
    refusals.add(entry)
  }

  mutating func warn(_ code: Diagnostic.Code, _ message: String) {
    warn(Diagnostic(code, message, severity: .warning))
  }

  mutating func warn(_ diagnostic: Diagnostic) {
    warnings.add(diagnostic)
  }

  var isEmpty: Bool {
    table.isEmpty && refusals.entries.isEmpty
  }

  /// Returns the manifest; throws when no item is usable and the document itself is to blame.
  consuming func manifest(furtherDocuments: [FurtherDocument] = []) throws(Failure) -> Manifest {
    if table.isEmpty, furtherDocuments.isEmpty, let failure = refusals.blame { throw failure }
    var manifest = Manifest(entries: table)
    manifest.furtherDocuments = furtherDocuments
    manifest.rejected = refusals.entries
    manifest.warnings = warnings.all
    return manifest
  }

  private static func begins(_ text: RawSpan, with prefix: [UInt8]) -> Bool {
    guard text.byteCount >= prefix.count else { return false }
    return unsafe text.withUnsafeBytes { unsafe $0.starts(with: prefix) }
  }
}
