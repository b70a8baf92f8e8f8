import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Declarations of single items, known without requests: inline, local or stored by the last run.
struct DeclaredItems {
  struct Declaration {
    /// Copy of the segment: inline, without headers, which the entry has.
    var segment: SegmentDeclaration
    var entry: ManifestEntry
    /// Reason why runs leave the item out; nil if they take it.
    var leftOut: String?
    /// Headers of the segment that the item's server does not receive, and the host that does.
    var withheld: Withheld?

    struct Withheld {
      var names: [String]
      var host: String
    }

    /// Whether runs skip the item because of its `behavior`, and fetch it only on request.
    var isWithheld: Bool {
      (entry.behavior ?? segment.manifestRules.behavior).withholds(isThumbnail: entry.isThumbnail)
    }
  }

  private(set) var warnings: [Diagnostic] = []
  private var byURL: [String: [Declaration]] = [:]
  private var byZone: [String: [Declaration]] = [:]

  subscript(url: WebURL) -> [Declaration] {
    byURL[url.string] ?? []
  }

  /// Returns declarations of an item; those of an ad space may name several tags.
  subscript(entry: ManifestEntry) -> [Declaration] {
    entry.zone.map { byZone[$0] ?? [] } ?? self[entry.url]
  }

  init() {}

  var withoutBodies: Self {
    changed {
      $0.digests = []
      $0.size = nil
    }
  }

  func overridingHeaders(with fields: [HeaderField]) -> Self {
    changed { $0.headers = fields + RequestFields.missing($0.headers, in: fields) }
  }

  private func changed(_ change: (inout ManifestEntry) -> Void) -> Self {
    var other = self
    let changed = { (declarations: [Declaration]) in
      declarations.map { declaration in
        var declaration = declaration
        change(&declaration.entry)
        return declaration
      }
    }
    other.byURL = byURL.mapValues(changed)
    other.byZone = byZone.mapValues(changed)
    return other
  }

  /// Finds declarations in configuration and stored manifests.
  ///
  /// `zones` are ad spaces with any URLs, `typed` the URLs that the user typed (nil for all).
  /// `facts` let `select` pass over versions that are too young, as a run does.
  /// `searchesAll` reads every manifest for a URL that no segment holds; `lists` are freshly read.
  init(
    of urls: [WebURL],
    zones: [String] = [],
    by builder: RequestBuilder,
    in store: DiskStore?,
    typed: Set<String>? = [],
    searchesAll: Bool = true,
    lists: ReadLists = ReadLists(),
    judgedBy facts: Planner.Facts? = nil
  ) throws(Failure) {
    guard !builder.configuration.segments.isEmpty else { return }
    let limit = builder.policy.maximumManifestSize
    let names = Set(urls.map(\.string))
    let recorded = try store?.segments() ?? []
    var holding: Set<SegmentKey> = []
    // Any manifest may declare an item that no segment holds, such as one fetched only on request.
    var hasUnheld = false
    if let store, !recorded.isEmpty {
      for name in names {
        let holders = try store.segmentsHolding(url: name)
        hasUnheld = hasUnheld || !holders.contains { $0.identity == builder.identity }
        holding.formUnion(holders)
      }
    }
    for segment in builder.configuration.segments.map(builder.declaration) {
      let key = SegmentKey(identity: builder.identity, name: segment.name)
      let record = recorded.first { $0.key == key }
      let read = lists.manifests[segment.name]
      if case .remote(let url) = segment.source, read == nil {
        guard record?.manifestURL == url.string,
          holding.contains(key) || hasUnheld && searchesAll
        else { continue }
      }
      let manifest = manifestOrWarning(
        read.map { Result<Manifest, Failure>.success($0.value) }
          ?? Self.whole(segment, record, in: store, limit: limit),
        of: segment
      )
      // Users and clients may request items that runs leave out.
      let listed = manifest.map { ManifestSelection(ManifestRules()).apply(to: $0.entries) }
      guard let manifest, var entries = listed, !entries.isEmpty else { continue }
      if segment.isStored, let locked = builder.lockfile?.segment(segment.name) {
        entries.lock(to: locked)
      }
      var segment = segment
      segment.maximumFileSize = segment.maximumFileSize(under: manifest, builder.policy)
      segment.age.complete(under: manifest)
      if let limits = manifest.network {
        segment.network = builder.network(segment.network, narrowedBy: limits, of: segment.name)
      }
      let selection = ManifestSelection(segment.manifestRules)
      let old = facts.map { selection.select(from: entries, of: segment, $0).entries }
      // A repeated URL is one item; the first mention counts.
      var seen: Set<String> = []
      for entry in Array(entries)
      where (names.contains(entry.url.string) || entry.zone.map(zones.contains) == true)
        && seen.insert(entry.recordURL).inserted
      {
        let declaration = Self.declaration(
          entry,
          in: segment,
          isTyped: typed?.contains(entry.url.string) ?? true,
          leftOut: old?.position(of: URLKey(entry.url.string)) == nil
            ? selection.objection(to: entry, of: entries) : nil
        )
        byURL[entry.url.string, default: []].append(declaration)
        if let zone = entry.zone { byZone[zone, default: []].append(declaration) }
      }
    }
  }

  private static func declaration(
    _ entry: ManifestEntry,
    in segment: SegmentDeclaration,
    isTyped: Bool,
    leftOut: String?
  ) -> Declaration {
    let owner = segment.headerOwner(for: entry.url)
    var entry = entry
    entry.id = entry.id ?? ItemIdentifier.make(for: entry.url)
    var withheld: Declaration.Withheld?
    if owner?.origin == entry.url.origin {
      entry.headers = segment.headers + entry.headers
    } else if let owner, !segment.headers.isEmpty {
      withheld = .init(names: segment.headers.map(\.name), host: owner.authority)
    }
    var segment = segment
    if case .remote(let url) = segment.source, !isTyped { segment.excerptOf = url }
    segment.source = .inline([])
    segment.headers = []
    return Declaration(segment: segment, entry: entry, leftOut: leftOut, withheld: withheld)
  }

  private mutating func manifestOrWarning(
    _ reading: Result<Manifest, Failure>,
    of segment: SegmentDeclaration
  ) -> Manifest? {
    switch reading {
    case .success(let manifest):
      return manifest
    case .failure(let failure):
      warnings.append(ListReading.warning(of: segment.name, failure.message))
      return nil
    }
  }

  // MARK: Ids

  static func entries(
    named name: String,
    by builder: RequestBuilder,
    in store: DiskStore?,
    lists: ReadLists = ReadLists()
  ) throws(Failure) -> [ManifestEntry] {
    let recorded = try store?.segments() ?? []
    let limit = builder.policy.maximumManifestSize
    var named: [ManifestEntry] = []
    for segment in builder.configuration.segments.map(builder.declaration) {
      let key = SegmentKey(identity: builder.identity, name: segment.name)
      let record = recorded.first { $0.key == key }
      let read = lists.manifests[segment.name].map { Result<Manifest, Failure>.success($0.value) }
      guard
        case .success(let manifest) = read ?? whole(segment, record, in: store, limit: limit)
      else { continue }
      for entry in manifest.entries
      where isNamed(name, entry)
        && !named.contains(where: { $0.recordURL == entry.recordURL })
      {
        named.append(entry)
      }
    }
    return named
  }

  private static func isNamed(_ name: String, _ entry: ManifestEntry) -> Bool {
    let id = entry.id ?? ItemIdentifier.make(for: entry.url)
    return id == name || entry.provider.map { "\($0)/\(id)" == name } ?? false
  }

  static func segmentsWithoutStoredList(
    by builder: RequestBuilder,
    in store: DiskStore?
  ) throws(Failure) -> [String] {
    let recorded = try store?.segments() ?? []
    return builder.configuration.segments.map(builder.declaration).filter { segment in
      guard case .remote(let url) = segment.source else { return false }
      let key = SegmentKey(identity: builder.identity, name: segment.name)
      return !recorded.contains { $0.key == key && $0.manifestURL == url.string }
    }.map(\.name)
  }

  // MARK: Manifests

  /// Returns a segment's manifest as the last run read it, with its further documents.
  static func whole(
    _ segment: SegmentDeclaration,
    _ record: SegmentRecord?,
    in store: DiskStore?,
    limit: Int64
  ) -> Result<Manifest, Failure> {
    let head: Result<Manifest, Failure> =
      switch segment.source {
      case .inline(let entries): .success(Manifest(entries: entries.value))
      case .file(let path, _): readFile(path, of: segment, limit: limit)
      case .remote(let url): readStored(record, of: url, segment, in: store)
      }
    return addFurtherDocuments(to: head, of: segment, record, store)
  }

  private static func readFile(
    _ path: String,
    of segment: SegmentDeclaration,
    limit: Int64
  ) -> Result<Manifest, Failure> {
    do throws(FileReading.Fault) {
      let source = ManifestSource(
        bytes: .file(path),
        base: segment.base,
        mime: nil,
        name: path,
        rules: segment.manifestRules
      )
      let signature = try signature(of: path, segment)
      return try FileReading.withBytes(of: path, limit: Int(clamping: limit)) {
        ManifestReader.reading($0, source, signedBy: signature)
      }
    } catch {
      return .failure(Failure(.manifestInvalid, "`\(path)`: \(error.reason)"))
    }
  }

  /// Returns the required signature of a local manifest; empty if the file is missing.
  private static func signature(
    of path: String,
    _ segment: SegmentDeclaration
  ) throws(FileReading.Fault) -> ManifestReader.Proof? {
    guard !segment.manifestKeys.isEmpty else { return nil }
    let demand = SignatureDemand(ofFile: path, keys: segment.manifestKeys)
    let limit = Int(SignatureDemand.sizeLimit)
    do throws(FileReading.Fault) {
      return (demand, try FileReading.read(demand.name, limit: limit))
    } catch .missing {
      return (demand, [])
    }
  }

  private static func readStored(
    _ record: SegmentRecord?,
    of url: WebURL,
    _ segment: SegmentDeclaration,
    in store: DiskStore?
  ) -> Result<Manifest, Failure> {
    guard let store, let record, record.manifestURL == url.string else {
      return .failure(
        Failure(.notFound, "no run has stored its manifest; `prefetch run` fetches it")
      )
    }
    guard let digest = record.manifest else {
      return .failure(Failure(.storeDamaged, "its manifest is not stored"))
    }
    let address = record.manifestFinalURL.flatMap { try? WebURL($0) }
    var source = ManifestSource(
      bytes: .stored(digest),
      base: segment.base ?? address,
      mime: nil,
      name: record.manifestURL ?? segment.name,
      rules: segment.manifestRules
    )
    source.address = address
    if segment.base == nil { source.requestedURL = url }
    source.page = PageHint(url, known: record.documents.map(\.url))
    return read(digest, source, in: store)
  }

  private static func addFurtherDocuments(
    to head: Result<Manifest, Failure>,
    of segment: SegmentDeclaration,
    _ record: SegmentRecord?,
    _ store: DiskStore?
  ) -> Result<Manifest, Failure> {
    guard case .success(var whole) = head, !whole.furtherDocuments.isEmpty else { return head }
    let stored = Dictionary((record?.documents ?? []).map { ($0.url, $0) }) { first, _ in first }
    var supplements = ListSupplements()
    var line = Array(whole.furtherDocuments.reversed())
    var seen: Set<String> = []
    while let further = line.popLast() {
      guard seen.insert(further.url.string).inserted else { continue }
      guard let store, let document = stored[further.url.string] else {
        if further.isOptional { continue }
        return .failure(Failure(.storeDamaged, "its part `\(further.url.redacted)` is not stored"))
      }
      let baseURL = document.finalURL.flatMap { try? WebURL($0) } ?? further.url
      var source = ManifestSource(
        bytes: .stored(document.digest),
        base: further.kind == .page ? segment.base ?? baseURL : baseURL,
        mime: nil,
        name: further.url.redacted,
        rules: segment.manifestRules
      )
      source.address = baseURL
      source.documentRole = further.kind
      source.page = PageHint(further.url, known: (record?.documents ?? []).lazy.map(\.url))
      switch read(document.digest, source, in: store) {
      case .success(let more):
        whole.add(more, as: further.kind, &supplements)
        line += more.furtherDocuments.reversed()
      case .failure where further.isOptional: continue
      case .failure(let failure):
        return .failure(failure)
      }
    }
    supplements.join(&whole.entries)
    return .success(whole)
  }

  private static func read(
    _ digest: ContentDigest,
    _ source: ManifestSource,
    in store: DiskStore
  ) -> Result<Manifest, Failure> {
    do {
      return try store.withObject(digest) { ManifestReader.reading($0, source) }
    } catch let failure as Failure {
      return .failure(failure)
    } catch {
      return .failure(Failure(.storeDamaged, "its stored manifest cannot be read: \(error)"))
    }
  }
}
