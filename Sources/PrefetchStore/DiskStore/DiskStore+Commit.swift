package import PrefetchCore

extension DiskStore {
  package func commit(
    _ changes: [StoreChange],
    within limit: Int64?
  ) throws(Failure) -> [RemovedContent] {
    let bodies = changes.flatMap(\.bodies)
    let records = try recordQuery()
    let removed = try change(publishing: bodies, within: limit) {
      (writer, adopt) throws(Failure) in
      for change in changes {
        try writer.apply(change, adopting: adopt) { item throws(Failure) in
          try records.record(item)
        }
      }
    }
    for body in bodies {
      staging.discard(body)
    }
    if let limit { makeRoomOfLeases(limit) }
    // New times alone justify no backup: without them items are revalidated once more.
    for case .confirm(let confirmations) in changes {
      countedChanges += Int64(confirmations.count)
    }
    return removed
  }

  /// Ends leases that `cache.size` has no room for; the commit stands even if this fails.
  private func makeRoomOfLeases(_ limit: Int64) {
    guard let leases = (try? Leases(in: root)) ?? nil, let used = try? usedBytes() else { return }
    try? leases.end(downTo: limit - used, excluding: layers.own)
  }

  /// Removes items; the next run that declares a removed item fetches it again.
  package func remove(
    urls: [String],
    isHeldToo: Bool = true
  ) throws(Failure) -> [RemovedContent] {
    try change { (writer, _) throws(Failure) in
      for url in urls {
        try writer.remove(url: url, isHeldToo: isHeldToo)
      }
    }
  }

  /// Returns items that came through a segment and that no segment holds: their lock has ended.
  package func unheldItems() throws(Failure) -> [Int64] {
    try withBackup { () throws(Failure) in
      var items: [Int64] = []
      let rows = try database().prepare("SELECT item FROM items WHERE was_held AND holders=0")
      while try rows.step() {
        items.append(rows.number(0))
      }
      return items
    }
  }

  package func removeUnheld() throws(Failure) -> [RemovedContent] {
    let items = try unheldItems()
    guard !items.isEmpty else { return [] }
    return try change { (writer, _) throws(Failure) in
      for item in items {
        try writer.removeIfUnheld(item)
      }
    }
  }

  @discardableResult
  func requireWriting() throws(Failure) -> Writing {
    switch access {
    case .writing(let writing): return writing
    case .reading:
      throw Failure(.permission, "the cache `\(path)` was opened for reading only")
    }
  }

  /// Performs a change, and repeats it on a full disk while partial bodies can be evicted.
  func change(
    publishing bodies: [StagedBody] = [],
    within limit: Int64? = nil,
    _ body: (IndexWriter, IndexWriter.Adoption) throws(Failure) -> Void
  ) throws(Failure) -> [RemovedContent] {
    while true {
      let timesFreed = staging.timesFreed
      do throws(Failure) {
        return try changeAtOnce(publishing: bodies, within: limit, body)
      } catch {
        guard error.code == .diskFull, staging.makeRoom(since: timesFreed) else { throw error }
        used = nil
      }
    }
  }

  /// Publishes bodies, then writes the rows that name them, then removes objects without a row.
  ///
  /// Only a transaction that finds no row for an object may remove the object; so after a write by
  /// another process, this function checks that the published bodies still exist.
  private func changeAtOnce(
    publishing bodies: [StagedBody],
    within limit: Int64?,
    _ body: (IndexWriter, IndexWriter.Adoption) throws(Failure) -> Void
  ) throws(Failure) -> [RemovedContent] {
    let writing = try requireWriting()
    let database = try database()
    let references = try references()
    let writer = try writer()
    let pending = try publications(bodies)
    while true {
      let version = pending.isEmpty ? nil : try dataVersion()
      var believed: [ContentDigest] = []
      let isNew = lower.isEmpty ? [] : Set(pending.map(\.digest)).filter { !layers.isOwn($0) }
      if limit != nil, !isNew.isEmpty { _ = try usedNow() }
      let files = try writing.publisher.publish(pending, updating: &times) {
        digest throws(Failure) in
        guard try references.contains(digest) else { return false }
        believed.append(digest)
        return true
      }
      var orphans: [ContentDigest] = []
      var after: Int64?
      var newest: Int64?
      let isDone = try writing.claims.withWriterLock { () throws(Failure) in
        try database.transaction { () throws(Failure) in
          if let version, try dataVersion() != version,
            try !areThere(pending, believed, references)
          {
            return false
          }
          let before = limit == nil ? used?.bytes : try usedNow()
          var coming: [ContentDigest: Int64] = [:]
          if before != nil {
            for body in pending {
              if try references.contains(body.digest), !isNew.contains(body.digest) { continue }
              coming[body.digest] = body.size
            }
          }
          newest = try dataVersion()
          hasSeenOthers = hasSeenOthers || writtenVersion.map { $0 != newest } ?? false
          writtenVersion = newest
          let locks = try LockRule(database, now: expiryTime())
          writer.begin(
            files: files,
            locks: locks,
            withdrawn: hasSeenOthers ? try withdrawals() : [],
            othersHaveWritten: hasSeenOthers
          ) {
            () throws(Failure) in try self.isBusy()
          }
          try body(writer) { (digest, isPlanned) throws(Failure) in
            if coming[digest] != nil { return true }
            if try references.contains(digest) { return true }
            guard let size = try intactObject(digest) else { return false }
            if let limit, let before, !isPlanned,
              layers.isOwn(digest), coming.values.reduce(before + size, +) > limit
            {
              return false
            }
            coming[digest] = layers.isOwn(digest) ? size : 0
            return true
          }
          try writer.end()
          var freed: Int64 = 0
          for (digest, size) in writer.released where try !references.contains(digest) {
            orphans.append(digest)
            guard before != nil else { continue }
            let known = if let size, lower.isEmpty { size } else { try sizeOnDisk(digest) }
            freed += known ?? 0
          }
          after = before.map { $0 + coming.values.reduce(0, +) - freed }
          if let limit, let before, let after, after > limit, after > before {
            throw Failure(
              .cacheFull,
              "`cache.size` leaves no room; another process has written, too"
            )
          }
          return true
        }
      }
      guard isDone else { continue }
      hasCommitted = true
      writer.didCommit()
      used = after.map { Used(bytes: $0, version: newest) }
      try tidyUp(orphans, evicted: writer.evicted, writing)
      return writer.removed
    }
  }

  package func dataVersion() throws(Failure) -> Int64? {
    try database().number("PRAGMA data_version")
  }

  /// Returns whether all published files and all rows that name `believed` still exist.
  private func areThere(
    _ pending: [Publication],
    _ believed: [ContentDigest],
    _ references: ObjectReferences
  ) throws(Failure) -> Bool {
    for digest in believed where try !references.contains(digest) { return false }
    for body in pending where try sizeOnDisk(body.digest) != body.size { return false }
    return true
  }

  private func publications(_ bodies: [StagedBody]) throws(Failure) -> [Publication] {
    var seen: Set<ContentDigest> = []
    var publications: [Publication] = []
    for body in bodies where seen.insert(body.digest).inserted {
      publications.append(
        Publication(
          digest: body.digest,
          size: body.size,
          staged: try staging.staged(body)
        )
      )
    }
    return publications
  }

  /// Removes orphans; the commit has succeeded, so a failure only leaves work for a later run.
  private func tidyUp(
    _ orphans: [ContentDigest],
    evicted: Set<ContentDigest>,
    _ writing: Writing
  ) throws(Failure) {
    do throws(Failure) {
      try removeReleased(orphans, evicted: evicted, writing)
      try index.shortenLog(of: try database(), over: Self.longestLog)
    } catch {
      diagnostics.append(
        Diagnostic(
          "store.leftover",
          "replaced bodies could not be removed: \(error.message)",
          severity: .warning,
          hint: "the next run tries again"
        )
      )
    }
  }

  /// Removes bodies, unless they were not evicted and other runs may still count on them.
  private func removeReleased(
    _ orphans: [ContentDigest],
    evicted: Set<ContentDigest>,
    _ writing: Writing
  ) throws(Failure) {
    guard !orphans.isEmpty else { return }
    try changeObjects(writing) { (database, references) throws(Failure) in
      let insertion = database.prepare(
        "INSERT OR REPLACE INTO released_objects (digest, since) VALUES (?1, ?2)"
      )
      let isBusy = try isBusy()
      var unnamed: [ContentDigest] = []
      for digest in orphans where try !references.contains(digest) {
        guard isBusy, !evicted.contains(digest) else {
          unnamed.append(digest)
          continue
        }
        try insertion.run(digest, RunLock.now)
      }
      try writing.publisher.remove(unnamed, updating: &times)
    }
  }

  /// Returns whether other runs may count on released bodies; without reliable locks, commits tell.
  private func isBusy() throws(Failure) -> Bool {
    if hasSeenOthers { return true }
    return try RunLock.oldestRun(in: root, excluding: lock) != nil
  }

  package func waitingObjects() throws(Failure) -> Int {
    Int(try database().number("SELECT count(*) FROM released_objects") ?? 0)
  }

  func removeOverdue(_ writing: Writing) throws(Failure) {
    let released = "SELECT 1 FROM released_objects UNION SELECT 1 FROM released_items"
    guard try database().number("SELECT EXISTS (\(raw: released))") == 1 else { return }
    let oldest = try RunLock.oldestRun(in: root, excluding: lock)?.milliseconds ?? .max
    try changeObjects(writing) { (database, references) throws(Failure) in
      let rows = try database.rows("SELECT digest FROM released_objects WHERE since<\(oldest)")
      var unnamed: [ContentDigest] = []
      while try rows.step() {
        guard let digest = rows.optionalDigest(0) else { continue }
        if try !references.contains(digest) { unnamed.append(digest) }
      }
      try writing.publisher.remove(unnamed, updating: &times)
      for table in ["released_objects", "released_items"] {
        try database.run("DELETE FROM \(raw: table) WHERE since<\(oldest)")
      }
    }
  }

  /// Performs `body` so that no row can name an object meanwhile; other processes see the write.
  func changeObjects<Value>(
    _ writing: Writing,
    _ body: (Database, ObjectReferences) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let database = try database()
    let references = try references()
    return try writing.claims.withWriterLock { () throws(Failure) in
      try database.transaction { () throws(Failure) in
        let value = try body(database, references)
        try database.execute("UPDATE upkeep SET changes=changes")
        return value
      }
    }
  }

  private static let longestLog: Int64 = 64 * 1024 * 1024
}
