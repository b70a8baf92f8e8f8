package import PrefetchCore

extension DiskStore {
  /// Compares only the times of the object folders.
  package func hasUnseenChanges() throws(Failure) -> Bool {
    // No times are recorded for lower caches.
    if !lower.isEmpty { return true }
    for prefix in UInt8.min...UInt8.max {
      let changed = try objects?.changed(prefix) ?? FolderTimes.absent
      guard times.isKnown(prefix, changed: changed) else { return true }
    }
    return false
  }

  /// Returns missing and damaged digests; opens only folders that others changed.
  package func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    if inventory.isPartial { return try missingObjects(ofPartial: inventory) }
    var suspects: [(prefix: UInt8, changed: Int64, isKnown: Bool)] = []
    for prefix in UInt8.min...UInt8.max {
      let changed = try objects?.changed(prefix) ?? FolderTimes.absent
      let isKnown = times.isComplete(prefix, changed: changed)
      if !isKnown || !lower.isEmpty {
        suspects.append((prefix, changed, isKnown))
      }
    }
    guard !suspects.isEmpty else { return [] }
    let expected = ExpectedObjects(inventory, manifests: try segments().flatMap(\.manifests))
    var missing: Set<ContentDigest> = []
    for (prefix, changed, isKnown) in suspects {
      let present = try objects?.digests(in: prefix) ?? []
      var isComplete = true
      let folder = try objects?.folder(of: prefix)
      func isThere(_ digest: ContentDigest, _ size: Int64?) -> Bool {
        guard let folder, present.contains(digest) else { return false }
        do throws(Failure) {
          guard isKnown else { return try isSound(digest, size: size, in: folder) }
          let found = try folder.status(of: digest.hexadecimal)
          return found.map { $0.kind == .file && $0.size == size ?? $0.size } ?? false
        } catch {
          // An unreadable object is not known to be damaged, and stays.
          isComplete = false
          return error.code != .storeDamaged
        }
      }
      expected.forEach(in: prefix) { digest, size in
        if isThere(digest, size) { return }
        // A folder counts as complete only if nothing in it depends on lower caches.
        isComplete = false
        if !layers.isBelow(digest, size: size) { missing.insert(digest) }
      }
      for file in inventory.files where file.digest.prefix == prefix {
        if isThere(file.digest, file.size) { continue }
        isComplete = false
        if layers.isBelow(file.digest, size: file.size) { continue }
        // An item without one of its files is not whole.
        missing.insert(file.digest)
        missing.insert(inventory.rows[file.row].digest)
      }
      times.didExamine(prefix, changed: changed, isComplete: isComplete)
    }
    missing.remove(.none)
    return missing
  }

  private func missingObjects(
    ofPartial inventory: Inventory
  ) throws(Failure) -> Set<ContentDigest> {
    var missing: Set<ContentDigest> = []
    for row in inventory.rows where row.hasBody {
      if try intactObject(row.digest) != row.size { missing.insert(row.digest) }
    }
    for file in inventory.files where try intactObject(file.digest) != file.size {
      missing.formUnion([file.digest, inventory.rows[file.row].digest])
    }
    return missing
  }

  /// Ends a run: removes orphans, records complete folders, backs up the index, empties its log.
  package func finishRun() throws(Failure) {
    let writing = try requireWriting()
    if try isMadeFromCopy { try forgetMissingBodies() }
    try removeOverdue(writing)
    try removeOrphans(in: times.suspects, writing, keepingUpTo: try orphanRetentionLimit())
    try backUpWhenDue()
    try close()
  }

  /// Removes orphans from all folders, except those that a lost index or active runs may need.
  @discardableResult
  package func removeOrphans() throws(Failure) -> Int {
    let writing = try requireWriting()
    try removeOverdue(writing)
    return try removeOrphans(
      in: Set(UInt8.min...UInt8.max),
      writing,
      keepingUpTo: try orphanRetentionLimit()
    )
  }

  @discardableResult
  private func removeOrphans(
    in prefixes: Set<UInt8>,
    _ writing: Writing,
    keepingUpTo last: Int64?
  ) throws(Failure) -> Int {
    guard !prefixes.isEmpty else { return 0 }
    // Another run may be about to commit an object, or may count on one.
    let oldest = try RunLock.oldestRun(in: root, excluding: lock)
    let limit = oldest.map { min(start, Self.nanoseconds($0)) } ?? start
    let references = try references()
    let released = try database().prepare("SELECT 1 FROM released_objects WHERE digest=?1")
    // Each digest is checked again within the transaction below.
    var orphans: [ContentDigest] = []
    for prefix in prefixes {
      guard let folder = try writing.publisher.objects.folder(of: prefix) else { continue }
      for digest in try writing.publisher.objects.digests(in: prefix)
      where try !references.contains(digest) {
        guard let status = try folder.status(of: digest.hexadecimal),
          status.kind != .folder
        else { continue }
        if let last, status.changed <= last { continue }
        if try released.first(digest, read: { _ in true }) == true { continue }
        if status.changed < limit {
          orphans.append(digest)
        } else {
          // Another run may be about to commit the object; the next run looks again.
          times.didFail(prefix)
        }
      }
    }
    guard !orphans.isEmpty else { return 0 }
    return try changeObjects(writing) { (_, references) throws(Failure) in
      var unnamed: [ContentDigest] = []
      for digest in orphans where try !references.contains(digest) { unnamed.append(digest) }
      try writing.publisher.remove(unnamed, updating: &times)
      return unnamed.count
    }
  }

  private var start: Int64 {
    Self.nanoseconds(clockStart)
  }

  private static func nanoseconds(_ instant: Instant) -> Int64 {
    instant.milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue
  }

  // MARK: Times of the folders

  func recordedTimes(_ database: Database) throws(Failure) -> FolderTimes {
    var recorded: [UInt8: Int64] = [:]
    let rows = database.prepare("SELECT prefix, changed FROM object_folders")
    while try rows.step() {
      guard let prefix = UInt8(exactly: rows.number(0)) else { continue }
      recorded[prefix] = rows.number(1)
    }
    return FolderTimes(recorded: recorded)
  }

  func recordTimes(_ database: Database) throws(Failure) {
    let changes = times.changes
    guard !changes.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      let insertion = database.prepare(
        "INSERT OR REPLACE INTO object_folders (prefix, changed) VALUES (?1, ?2)"
      )
      let deletion = database.prepare("DELETE FROM object_folders WHERE prefix=?1")
      for change in changes {
        if let changed = change.changed {
          try insertion.run(Int(change.prefix), changed)
        } else {
          try deletion.run(Int(change.prefix))
        }
      }
    }
    times.didRecord()
  }
}

/// Digests that rows name, grouped by folder; one number each, since there may be millions.
private struct ExpectedObjects {
  private let rows: [Inventory.Row]
  private let manifests: [ContentDigest]
  private var positions: [UInt32]
  private var starts = [Int](repeating: 0, count: 257)

  init(_ inventory: Inventory, manifests: [ContentDigest]) {
    self.manifests = manifests
    rows = inventory.rows
    for row in rows where row.hasBody {
      starts[Int(row.digest.prefix) + 1] += 1
    }
    for folder in 1...256 {
      starts[folder] += starts[folder - 1]
    }
    positions = [UInt32](repeating: 0, count: starts[256])
    var next = starts
    for (position, row) in rows.enumerated() where row.hasBody {
      let folder = Int(row.digest.prefix)
      positions[next[folder]] = UInt32(position)
      next[folder] += 1
    }
  }

  /// Calls `body` with each digest of a folder and its size; manifests have no size.
  func forEach(in prefix: UInt8, _ body: (ContentDigest, Int64?) -> Void) {
    for slot in starts[Int(prefix)]..<starts[Int(prefix) + 1] {
      let row = rows[Int(positions[slot])]
      body(row.digest, row.size)
    }
    for digest in manifests where digest.prefix == prefix {
      body(digest, nil)
    }
  }
}
