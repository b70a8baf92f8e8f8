package import PrefetchCore

package struct ExportSummary: Hashable, Sendable {
  package var items = 0
  package var bytes: Int64 = 0
  /// URLs of items and lists left out because a body is lost or damaged.
  package var lost: [String] = []
}

extension DiskStore {
  /// Begins an export; returns nil unless the folder is empty, missing or left by a killed export.
  package static func beginExport(to path: String) throws(Failure) -> ExportMark? {
    try ExportMark.make(in: Folder.making(path))
  }

  /// Copies the cache, with `onlyNew` without what lower caches have; each body is hashed.
  package func export(
    to target: DiskStore,
    onlyNew: Bool,
    isCancelled: () -> Bool
  ) throws(Failure) -> ExportSummary {
    var export = StoreExport(target: target)
    if onlyNew {
      for path in lowerPaths {
        // A lower cache that cannot be read excludes nothing.
        if let below = (try? Self.openLower(path, clockStart: clockStart)) ?? nil {
          export.below.append(below)
        }
      }
    }
    try target.database().run("UPDATE upkeep SET variance_key=\(varianceKey().bytes)")
    for segment in try segments() where try !export.isKnown(segment) {
      try export.add(segment, from: self)
    }
    let rows = try database().prepare("SELECT \(RecordRow.columns) FROM \(RecordRow.source)")
    while try rows.step() {
      guard !isCancelled() else { throw Failure(.cancelled, "stopped while exporting") }
      let record = try StoredRow(rows).whole()
      guard record.state == .cached, record.digest != nil, try !export.isKnown(record) else {
        continue
      }
      try export.add(record, from: self)
    }
    guard !isCancelled() else { throw Failure(.cancelled, "stopped while exporting") }
    try export.flush()
    return export.summary
  }
}

private struct StoreExport {
  let target: DiskStore
  var below: [DiskStore] = []
  var summary = ExportSummary()
  private var segments: Set<SegmentKey> = []
  private var changes: [StoreChange] = []
  private var bytes: Int64 = 0

  init(target: DiskStore) {
    self.target = target
  }

  func isKnown(_ record: ContentRecord) throws(Failure) -> Bool {
    for store in below {
      guard let known = try store.record(url: record.url), known.digest == record.digest else {
        continue
      }
      return Set(known.otherFiles.map(\.digest)) == Set(record.otherFiles.map(\.digest))
    }
    return false
  }

  func isKnown(_ segment: SegmentRecord) throws(Failure) -> Bool {
    for store in below {
      guard let known = try store.segments().first(where: { $0.key == segment.key }) else {
        continue
      }
      return known.manifests == segment.manifests && known.manifestURL == segment.manifestURL
    }
    return false
  }

  /// Adds a segment; without the manifest's body a run has to fetch the manifest again.
  mutating func add(_ given: SegmentRecord, from store: DiskStore) throws(Failure) {
    var segment = given
    segment.quiet = nil
    let manifest = try segment.manifest.flatMap { digest throws(Failure) in
      try copy(digest, from: store)
    }
    if manifest == nil {
      if given.manifest != nil { summary.lost.append(given.manifestURL ?? given.key.name) }
      segment.forgetManifest()
    }
    var documents: [DocumentRecord] = []
    var bodies: [StagedBody] = []
    for document in segment.documents {
      guard let body = try copy(document.digest, from: store) else {
        summary.lost.append(document.url)
        continue
      }
      documents.append(document)
      bodies.append(body)
    }
    changes.append(.segment(segment, manifest: manifest))
    changes.append(.documents(segment.key, documents, bodies: bodies))
    segments.insert(segment.key)
    try flush()
  }

  mutating func add(_ record: ContentRecord, from store: DiskStore) throws(Failure) {
    var bodies: [StagedBody] = []
    for digest in [record.digest].compactMap(\.self) + files(of: record) {
      guard let body = try copy(digest, from: store) else {
        for body in bodies { target.discard(body) }
        summary.lost.append(record.url)
        return
      }
      bodies.append(body)
    }
    let holders = try store.segmentsHolding(url: record.url).filter(segments.contains)
    changes.append(
      .store(record, body: bodies[0], otherBodies: Array(bodies.dropFirst()), joining: holders)
    )
    summary.items += 1
    if changes.count >= Self.most || bytes >= Self.mostBytes { try flush() }
  }

  private func files(of record: ContentRecord) -> [ContentDigest] {
    var seen: Set<ContentDigest> = []
    return record.otherFiles.filter { !$0.isReserved }.map(\.digest).filter {
      seen.insert($0).inserted
    }
  }

  /// Copies a body into the staging area; returns nil when it is missing or damaged.
  private mutating func copy(
    _ digest: ContentDigest,
    from store: DiskStore
  ) throws(Failure) -> StagedBody? {
    guard try store.intactObject(digest) != nil else {
      if store.isCancelled() { throw Failure(.cancelled, "stopped while reading a stored body") }
      return nil
    }
    let body = try target.stage(fileAt: store.objectPath(digest), limit: .max)
    guard body.digest == digest else {
      target.discard(body)
      return nil
    }
    bytes += body.size
    summary.bytes += body.size
    return body
  }

  mutating func flush() throws(Failure) {
    guard !changes.isEmpty else { return }
    _ = try target.commit(changes, within: nil)
    changes = []
    bytes = 0
  }

  private static let most = 256
  private static let mostBytes: Int64 = 64 << 20
}
