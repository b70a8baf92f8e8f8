package import PrefetchCore

extension DiskStore {
  var layers: ObjectLayers {
    ObjectLayers(own: objects, lower: lower)
  }

  package var bodyPaths: BodyPaths {
    BodyPaths(cache: path, lower: lowerPaths)
  }

  package func objectPath(_ digest: ContentDigest) -> String {
    bodyPaths.path(of: digest)
  }

  /// Opens the given lower caches, or those of the last run, and copies their new rows, not bodies.
  func lookBelow(_ given: LowerCaches?) throws(Failure) {
    try withBackup { () throws(Failure) in
      let remembered = try LowerRows.paths(database())
      guard let given, !(given.paths.isEmpty && remembered.isEmpty) else {
        return openLower(remembered)
      }
      openLower(given.paths + remembered.filter { !given.paths.contains($0) })
      let known = try LowerRows.read(database(), of: given.identity)
      let present = given.paths.map { CopiedCache(path: $0, stamp: Self.stamp(of: $0)) }
      for cache in present where cache.stamp.isEmpty {
        warnOfUselessCache(Failure(.disk, "`\(cache.path)` holds no cache that can be read"))
      }
      guard known != present else { return }
      try copyRows(present, for: given.identity)
    }
  }

  private func openLower(_ paths: [String]) {
    lowerPaths = paths
    lower = paths.compactMap { path in
      guard let root = (try? Folder(at: path)) ?? nil else { return nil }
      return (try? CacheLayout.existingObjects(in: root)) ?? nil
    }
  }

  /// Returns a text that changes whenever the cache's index does; empty without an index.
  private static func stamp(of path: String) -> String {
    guard let root = (try? Folder(at: path)) ?? nil else { return "" }
    let index = CacheLayout.index(in: root)
    return [index.name, index.logName].compactMap { name in
      ((try? root.status(of: name)) ?? nil).map {
        "\($0.inode) \($0.size) \($0.modified) \($0.changed)"
      }
    }.joined(separator: ", ")
  }

  private func warnOfUselessCache(_ failure: Failure) {
    diagnostics.append(
      Diagnostic(
        "store.lower",
        "\(failure.message); items of `cache.lower` are requested from their servers where needed",
        severity: .warning,
        hint: "only bodies pinned by a digest are still taken from there"
      )
    )
  }

  // MARK: Taking over

  private func copyRows(_ caches: [CopiedCache], for identity: String) throws(Failure) {
    switch access {
    case .writing(let writing):
      try writing.claims.withWriterLock { () throws(Failure) in
        try copyRowsAtOnce(caches, for: identity)
      }
    case .reading:
      // A reading store writes no file: an in-memory copy gets the rows.
      try readFromCopy()
      try copyRowsAtOnce(caches, for: identity)
    }
  }

  private func copyRowsAtOnce(_ caches: [CopiedCache], for identity: String) throws(Failure) {
    let database = try database()
    try database.transaction { () throws(Failure) in
      let writer = try writer()
      writer.begin(locks: try LockRule(database, now: clockStart), othersHaveWritten: false) {
        false
      }
      var takeover = LowerTakeover(identity: identity, known: try segmentKeys())
      var copied = caches
      for number in copied.indices where !copied[number].stamp.isEmpty {
        do throws(Failure) {
          try copyRows(from: copied[number].path, writer, &takeover)
        } catch {
          // This stamp makes the next run try again.
          copied[number].stamp = "unread"
          warnOfUselessCache(error)
        }
      }
      try forgetUnheld(writer)
      try writer.end()
      try LowerRows.replace(database, of: identity, with: copied)
    }
    used = nil
  }

  private func segmentKeys() throws(Failure) -> Set<SegmentKey> {
    Set(try segments().map(\.key))
  }

  private func copyRows(
    from path: String,
    _ writer: IndexWriter,
    _ takeover: inout LowerTakeover
  ) throws(Failure) {
    guard let below = try Self.openLower(path, clockStart: clockStart) else { return }
    let segments = try below.segments()
    for problem in below.drainDiagnostics() {
      if problem.code == "store.older" { throw Failure(.storeDamaged, problem.message) }
      diagnostics.append(Diagnostic("store.lower", problem.message, severity: .warning))
    }
    if try database().number("SELECT EXISTS (SELECT 1 FROM variances)") == 0 {
      try database().run("UPDATE upkeep SET variance_key=\(below.varianceKey().bytes)")
    }
    for var segment in segments where takeover.includes(segment) {
      // The first run here finds out whether the segment is quiet.
      segment.quiet = nil
      if let manifest = segment.manifest, !layers.holds(manifest) { segment.forgetManifest() }
      let documents = segment.documents.filter { layers.holds($0.digest) }
      try apply(.segment(segment, manifest: nil), writer)
      try apply(.documents(segment.key, documents, bodies: []), writer)
      takeover.joined.insert(segment.key)
    }
    let rows = try below.database().prepare("SELECT \(RecordRow.columns) FROM \(RecordRow.source)")
    while try rows.step() {
      let record = try StoredRow(rows).whole()
      guard record.state == .cached, isWhole(record), takeover.urls.insert(record.url).inserted,
        try isWanted(record)
      else { continue }
      let keys = takeover.joined.isEmpty ? [] : try below.segmentsHolding(url: record.url)
      let own = keys.filter(takeover.joined.contains)
      try apply(.store(record, body: nil, joining: own), writer)
    }
  }

  private func apply(_ change: StoreChange, _ writer: IndexWriter) throws(Failure) {
    try writer.apply(change, adopting: { _, _ in true }, record: { _ in nil })
  }

  /// Returns whether a lower cache's row replaces the row here; a row with its body here stays.
  private func isWanted(_ record: ContentRecord) throws(Failure) -> Bool {
    guard let here = try namedItems().record(record.url) else { return true }
    guard here.state != .paused else { return false }
    guard let digest = here.digest, isWhole(here) else { return true }
    guard !layers.isOwn(digest) else { return false }
    return (here.validatedAt ?? here.fetchedAt).map { known in
      (record.validatedAt ?? record.fetchedAt).map { $0 > known } ?? false
    } ?? true
  }

  private func isWhole(_ record: ContentRecord) -> Bool {
    guard let digest = record.digest, layers.holds(digest, size: record.size) else { return false }
    return record.otherFiles.allSatisfy { $0.isReserved || layers.holds($0.digest, size: $0.size) }
  }

  /// Removes rows without a segment whose bodies disappeared with a lower cache.
  private func forgetUnheld(_ writer: IndexWriter) throws(Failure) {
    let rows = try database().prepare(
      "SELECT item, facts, url FROM items WHERE holders=0 AND mark IS NOT NULL"
    )
    var lost: [Int64] = []
    while try rows.step() {
      let digest = try rows.head(1, of: rows.text(2)).digest
      if !layers.holds(digest) { lost.append(rows.number(0)) }
    }
    for item in lost { try writer.remove(item: item) }
  }
}

private struct LowerTakeover {
  let identity: String
  let known: Set<SegmentKey>
  var joined: Set<SegmentKey> = []
  /// URLs of rows met with their bodies: an upper cache takes precedence over one below it.
  var urls: Set<String> = []

  init(identity: String, known: Set<SegmentKey>) {
    self.identity = identity
    self.known = known
  }

  /// Returns whether to take over a segment; a shard does not describe the whole segment.
  func includes(_ segment: SegmentRecord) -> Bool {
    segment.key.identity == identity && segment.shard == nil && segment.state != .unsubscribed
      && !known.contains(segment.key) && !joined.contains(segment.key)
  }
}
