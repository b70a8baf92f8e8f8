package import PrefetchCore

extension DiskStore {
  /// The own bodies and those below.
  var layers: ObjectLayers {
    ObjectLayers(own: objects, lower: lower)
  }

  /// Where bodies lie, here or below.
  package var bodyPaths: BodyPaths {
    BodyPaths(cache: path, lower: lowerPaths)
  }

  /// Where the body is or would be.
  package func objectPath(_ digest: ContentDigest) -> String {
    bodyPaths.path(of: digest)
  }

  /// Looks below, at these caches or at those that the last run named, and takes over what they know
  /// that is not known here.
  ///
  /// Their rows are copied and their bodies are not: so everything that reads the index sees both,
  /// and only who opens a body has to look in several places.
  func lookBelow(_ given: LowerCaches?) throws(Failure) {
    try answering { () throws(Failure) in
      let remembered = try LowerRows.paths(database())
      guard let given, !(given.paths.isEmpty && remembered.isEmpty) else {
        return openLower(remembered)
      }
      openLower(given.paths + remembered.filter { !given.paths.contains($0) })
      let known = try LowerRows.read(database(), of: given.identity)
      let present = given.paths.map { TakenCache(path: $0, stamp: Self.stamp(of: $0)) }
      for cache in present where cache.stamp.isEmpty {
        noteUseless(Failure(.disk, "`\(cache.path)` holds no cache that can be read"))
      }
      guard known != present else { return }
      try takeOver(present, for: given.identity)
    }
  }

  private func openLower(_ paths: [String]) {
    lowerPaths = paths
    lower = paths.compactMap { path in
      guard let root = (try? Folder(at: path)) ?? nil else { return nil }
      return (try? CacheLayout.existingObjects(in: root)) ?? nil
    }
  }

  /// What changes whenever its index does; empty where there is none.
  private static func stamp(of path: String) -> String {
    guard let root = (try? Folder(at: path)) ?? nil else { return "" }
    let index = CacheLayout.index(in: root)
    return [index.name, index.logName].compactMap { name in
      ((try? root.status(of: name)) ?? nil).map {
        "\($0.inode) \($0.size) \($0.modified) \($0.changed)"
      }
    }.joined(separator: ", ")
  }

  private func noteUseless(_ failure: Failure) {
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

  private func takeOver(_ caches: [TakenCache], for identity: String) throws(Failure) {
    switch access {
    case .writing(let writing):
      try writing.claims.inTurn { () throws(Failure) in try takeOverAtOnce(caches, for: identity) }
    case .reading:
      // Nothing is written: a copy in memory gets the rows.
      try readFromCopy()
      try takeOverAtOnce(caches, for: identity)
    }
  }

  private func takeOverAtOnce(_ caches: [TakenCache], for identity: String) throws(Failure) {
    let database = try database()
    try database.transaction { () throws(Failure) in
      let writer = try writer()
      writer.begin(locks: try LockRule(database, now: clockStart), besideOthers: false) { false }
      var takeover = LowerTakeover(identity: identity, known: try segmentKeys())
      var taken = caches
      for place in taken.indices where !taken[place].stamp.isEmpty {
        do throws(Failure) {
          try takeOver(from: taken[place].path, writer, &takeover)
        } catch {
          // The next run tries again.
          taken[place].stamp = "unread"
          noteUseless(error)
        }
      }
      try forgetUnheld(writer)
      try writer.end()
      try LowerRows.replace(database, of: identity, with: taken)
    }
    used = nil
  }

  private func segmentKeys() throws(Failure) -> Set<SegmentKey> {
    Set(try segments().map(\.key))
  }

  private func takeOver(
    from path: String,
    _ writer: IndexWriter,
    _ takeover: inout LowerTakeover
  ) throws(Failure) {
    guard let below = try Self.openLower(path, clockStart: clockStart) else { return }
    let segments = try below.segments()
    for problem in below.takeDiagnostics() {
      if problem.code == "store.older" { throw Failure(.storeDamaged, problem.message) }
      diagnostics.append(Diagnostic("store.lower", problem.message, severity: .warning))
    }
    if try database().number("SELECT EXISTS (SELECT 1 FROM variances)") == 0 {
      try database().run("UPDATE upkeep SET variance_key=\(below.varianceKeyBytes())")
    }
    for var segment in segments where takeover.takes(segment) {
      // Whether there is nothing to do is for the first run here to find out.
      segment.quiet = nil
      if let manifest = segment.manifest, !layers.holds(manifest) { segment.forgetManifest() }
      let documents = segment.documents.filter { layers.holds($0.digest) }
      try take(.segment(segment, manifest: nil), writer)
      try take(.documents(segment.key, documents, bodies: []), writer)
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
      try take(.store(record, body: nil, joining: own), writer)
    }
  }

  /// The bodies were looked for before.
  private func take(_ change: StoreChange, _ writer: IndexWriter) throws(Failure) {
    try writer.apply(change, adopting: { _, _ in true }, record: { _ in nil })
  }

  /// Whether a row from below, whose bodies are there, says more than the one that is here: that has
  /// none, or an older one that lies below as well.
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

  /// Rows that no segment holds and whose bodies went with a lower cache are of no use to anybody.
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

  func varianceKeyBytes() throws(Failure) -> [UInt8] {
    let row = try database().prepare("SELECT variance_key FROM upkeep")
    guard try row.step() else {
      throw Failure(.storeDamaged, "the index has lost the key of its header digests")
    }
    return row.bytes(0)
  }
}

/// What came from lower caches so far.
private struct LowerTakeover {
  let identity: String
  /// Segments that were known here before: what holds for them is known here.
  let known: Set<SegmentKey>
  var joined: Set<SegmentKey> = []
  /// Whose rows were met with their bodies: an upper cache knows better than one below it.
  var urls: Set<String> = []

  init(identity: String, known: Set<SegmentKey>) {
    self.identity = identity
    self.known = known
  }

  /// A part of one, as a shard is, says nothing of the whole.
  func takes(_ segment: SegmentRecord) -> Bool {
    segment.key.identity == identity && segment.shard == nil && segment.state != .unsubscribed
      && !known.contains(segment.key) && !joined.contains(segment.key)
  }
}
