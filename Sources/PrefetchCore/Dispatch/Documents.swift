/// Documents of a run: manifests under the numbers of their segments, then what these name.
struct Documents: RandomAccessCollection, MutableCollection {
  private var works: [DocumentWork]
  /// Newest record per request among all configurations; computed on first use.
  private var newest: [RequestKey: DocumentRecord]?
  /// Segments whose stored lists are used without a request, since a lock file names all items.
  private var frozenSegments: Set<Int> = []

  var startIndex: Int { 0 }
  var endIndex: Int { works.count }

  // Without `_read`, which compiler 6.3 misreads; details at the subscript of `ItemTable`.
  subscript(number: Int) -> DocumentWork {
    @inline(__always) get { works[number] }
    @inline(__always) _modify { yield &works[number] }
  }

  init(_ segments: [SegmentDeclaration]) {
    works = segments.enumerated().map { index, declaration in
      let url: WebURL? = if case .remote(let url) = declaration.source { url } else { nil }
      return DocumentWork(segment: index, role: .manifest, url: url, named: .local)
    }
  }

  mutating func add(_ document: DocumentWork) -> Int {
    works.append(document)
    return works.count - 1
  }

  mutating func useStoredLists(of index: Int) {
    frozenSegments.insert(index)
  }

  func usesStoredLists(of index: Int) -> Bool {
    frozenSegments.contains(index)
  }

  // MARK: Signatures

  /// Whether a document needs a signature; digests in the manifest prove indexes and modules.
  func isToBeSigned(_ number: Int, in declaration: SegmentDeclaration) -> Bool {
    guard !declaration.manifestKeys.isEmpty else { return false }
    switch works[number].furtherDocument?.kind {
    case .packageIndex(let requirement):
      return !requirement.digests.contains { $0.algorithm.isTrustworthy }
    // A list of checksums that nothing proves is not requested at all.
    case .moduleSource, .checksums, .dates: return false
    case .page, .sitemap, .hubTree, nil: return true
    }
  }

  /// Returns the URL of a document's signature: the suffix follows the path, the query stays.
  static func signatureURL(of url: WebURL) -> WebURL? {
    let end = url.string.firstIndex(of: "?") ?? url.string.endIndex
    return try? WebURL(url.string[..<end] + SignatureDemand.suffix + url.string[end...])
  }

  func source(
    of number: Int,
    in declaration: SegmentDeclaration,
    known: [DocumentRecord],
    maximumSize: Int64
  ) -> ManifestSource? {
    let document = works[number]
    guard let bytes = document.bytes else { return nil }
    let base: WebURL? =
      switch document.furtherDocument?.kind {
      case nil, .page: declaration.base ?? document.finalURL
      case .sitemap, .packageIndex, .moduleSource, .checksums, .dates, .hubTree:
        document.finalURL
      }
    let path: String? = if case .file(let path) = bytes { path } else { nil }
    var source = ManifestSource(
      bytes: bytes,
      base: base,
      mime: document.mime,
      name: document.url?.redacted ?? path ?? declaration.name,
      rules: declaration.manifestRules
    )
    source.address = document.finalURL
    source.page = document.url.map { url in
      if case .stored = bytes, document.offered == nil, document.link == .unstated {
        return PageHint(url, known: known.lazy.map(\.url))
      }
      return PageHint(url, link: document.link)
    }
    if document.furtherDocument == nil, declaration.base == nil {
      source.requestedURL = document.url
    }
    source.maximumSize = maximumSize
    source.documentRole = document.furtherDocument?.kind
    if isToBeSigned(number, in: declaration) {
      source.proof = proof(of: document, path: path, declaration.manifestKeys)
    }
    return source
  }

  private func proof(of document: DocumentWork, path: String?, _ keys: [String]) -> SignatureDemand?
  {
    if let path { return SignatureDemand(ofFile: path, keys: keys) }
    guard let url = document.url, let signature = document.signature,
      let bytes = works[signature].bytes
    else { return nil }
    return SignatureDemand(
      bytes: bytes,
      name: works[signature].url?.redacted ?? "",
      keys: keys,
      fileName: Hexadecimal.decodePercent(
        (url.path.split(separator: "/", omittingEmptySubsequences: false).last ?? "").utf8
      )
    )
  }

  // MARK: What belongs together

  /// Takes the manifest merged with its parts, in the order in which they are named.
  mutating func wholeManifest(_ index: Int) -> (manifest: Manifest, provenance: Provenance) {
    var whole = works[index].manifest ?? Manifest()
    works[index].manifest = nil
    var provenance = works[index].provenance
    var supplements = ListSupplements()
    for number in descendants(of: index) {
      guard let further = works[number].manifest else { continue }
      works[number].manifest = nil
      whole.add(further, as: works[number].furtherDocument?.kind, &supplements)
      if works[number].provenance == .publicServer { provenance = .publicServer }
    }
    supplements.join(&whole.entries)
    return (whole, provenance)
  }

  /// Returns the numbers of all parts in order, each before its own parts.
  private func descendants(of index: Int) -> [Int] {
    var numbers: [Int] = []
    var line = Array(works[index].children.reversed())
    while let number = line.popLast() {
      numbers.append(number)
      line += works[number].children.reversed()
    }
    return numbers
  }

  mutating func drainAccepted(_ index: Int) -> (records: [DocumentRecord], bodies: [StagedBody]) {
    var records: [DocumentRecord] = []
    var bodies: [StagedBody] = []
    for number in [index] + descendants(of: index) {
      for document in [number == index ? nil : number, works[number].signature] {
        guard let document, let record = works[document].accepted else { continue }
        records.append(record)
        if let staged = works[document].staged { bodies.append(staged) }
        works[document].staged = nil
      }
    }
    return (records, bodies)
  }

  func signatures(of index: Int) -> [DocumentRecord] {
    ([index] + descendants(of: index)).compactMap { number in
      works[number].signature.flatMap { works[$0].accepted }
    }
  }

  struct Dropped {
    var bodies: [StagedBody] = []
    var jobs: Set<Job> = []
    var authorities: Set<String> = []
  }

  mutating func drop(_ index: Int) -> Dropped {
    var dropped = Dropped()
    for number in works.indices where works[number].segment == index {
      if let staged = works[number].staged { dropped.bodies.append(staged) }
      if let exchange = works[number].exchange, works[number].bytes == nil {
        dropped.authorities.insert(exchange.value.hop.authority)
        dropped.jobs.insert(.document(number))
      }
      works[number].staged = nil
      works[number].manifest = nil
      works[number].isDropped = true
    }
    return dropped
  }

  /// Resets a segment's manifest to the record of the last run, without parts and signatures.
  mutating func restart(_ index: Int, with stored: DocumentRecord) {
    works[index].stored = stored
    works[index].offered = nil
    works[index].mime = nil
    works[index].link = .unstated
    works[index].children = []
    works[index].signature = nil
    works[index].isDropped = false
  }

  func isDocument(_ job: Job, of index: Int) -> Bool {
    guard case .document(let number) = job else { return false }
    return works[number].segment == index
  }

  // MARK: What others have of it

  /// Returns a newer record that any configuration has of a document; nil if there is none.
  mutating func offer(
    _ number: Int,
    requestHash: UInt64,
    among segments: [SegmentRecord],
    excluding identity: String
  ) -> DocumentRecord? {
    let known = newest ?? Self.newest(among: segments, excluding: identity)
    newest = known
    guard !known.isEmpty, let url = works[number].url?.string else { return nil }
    return known[RequestKey(url: url, requestHash: requestHash)].flatMap { offer($0, for: number) }
  }

  func offer(_ record: DocumentRecord, for number: Int) -> DocumentRecord? {
    let own = works[number].stored
    guard record.digest != own?.digest else { return nil }
    var record = record
    record.generated = own?.generated
    record.isSignature = works[number].isSignature
    return record
  }

  private static func newest(
    among segments: [SegmentRecord],
    excluding identity: String
  ) -> [RequestKey: DocumentRecord] {
    guard segments.contains(where: { $0.key.identity != identity }) else { return [:] }
    var newest: [RequestKey: DocumentRecord] = [:]
    let never = Instant(seconds: 0)
    for segment in segments.sorted(by: { $0.lastChecked ?? never < $1.lastChecked ?? never }) {
      let manifest = segment.manifestURL.flatMap { segment.document(at: $0) }
      for record in [manifest].compactMap(\.self) + segment.documents {
        guard let requestHash = record.requestHash else { continue }
        newest[RequestKey(url: record.url, requestHash: requestHash)] = record
      }
    }
    return newest
  }
}

/// A request: its URL, and a fingerprint of all else that is sent.
struct RequestKey: Hashable, Sendable {
  var url: String
  var requestHash: UInt64
}
