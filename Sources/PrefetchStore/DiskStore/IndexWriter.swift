internal import PrefetchCore

/// Applies changes to the index within one transaction and notes what they set free.
final class IndexWriter {
  /// Digests that some row named before; whether one still does is known after the last change.
  private(set) var released: Set<ContentDigest> = []
  private(set) var removed: [RemovedContent] = []

  private let database: Database
  private let locks: LockRule
  private let findItem: Statement
  private let insertItem: Statement
  private let updateItem: Statement
  private let deleteItem: Statement
  private let findFate: Statement
  private let findSegment: Statement
  private let insertMember: Statement
  private let deleteMember: Statement
  private let markJoined: Statement

  /// `locks` says which locks hold at the moment.
  init(_ database: Database, locks: LockRule) throws(Failure) {
    self.database = database
    self.locks = locks
    findItem = try database.prepare("SELECT item, digest FROM items WHERE url=?1")
    insertItem = try database.prepare(RecordRow.insertion)
    updateItem = try database.prepare(RecordRow.update)
    deleteItem = try database.prepare(
      "DELETE FROM items WHERE item=?1 RETURNING url, id, size, digest"
    )
    findFate = try database.prepare(
      """
      SELECT origin, locked, locked_until, locked_process, \
      EXISTS (SELECT 1 FROM members WHERE members.item=items.item) FROM items WHERE item=?1
      """
    )
    findSegment = try database.prepare(
      "SELECT segment, manifest FROM segments WHERE identity=?1 AND name=?2"
    )
    insertMember = try database.prepare(
      """
      INSERT INTO members (segment, item, position) VALUES (?1, ?2, ?3) \
      ON CONFLICT (segment, item) DO UPDATE SET position=?3
      """
    )
    deleteMember = try database.prepare("DELETE FROM members WHERE segment=?1 AND item=?2")
    markJoined = try database.prepare("UPDATE items SET origin='segment' WHERE item=?1")
  }

  /// `isStored` answers whether an object that no row names yet is there and whole.
  func apply(
    _ change: StoreChange,
    isStored: (ContentDigest) throws(Failure) -> Bool
  ) throws(Failure) {
    switch change {
    case .record(let record, let body):
      try write(record, body: body, isStored: isStored)
    case .store(let record, let body, let keys):
      try write(record, body: body, isStored: isStored)
      for key in keys { try join(key, [record.url]) }
    case .confirm(let confirmations):
      let update = try database.prepare(
        "UPDATE items SET validated_at=?2, fresh_until=?3 WHERE item=?1"
      )
      for confirmation in confirmations {
        try update.bind(1, confirmation.item)
        try update.bind(2, confirmation.validatedAt)
        try update.bind(3, confirmation.freshUntil)
        try update.run()
      }
    case .joinItems, .leaveItems:
      throw Failure(.internal, "not yet")
    case .join(let key, let urls):
      try join(key, urls)
    case .leave(let key, let urls):
      guard let segment = try segment(key) else { return }
      for url in urls {
        guard let item = try item(of: url)?.number else { continue }
        try leave(segment.number, item)
      }
    case .segment(let record, let manifest):
      try write(record, manifest: manifest)
    case .forget(let key):
      try forget(key)
    }
  }

  /// Removes an item whatever holds it.
  func remove(url: String) throws(Failure) {
    guard let item = try item(of: url)?.number else { return }
    let members = try database.prepare("DELETE FROM members WHERE item=?1")
    try members.bind(1, item)
    try members.run()
    try dropItem(item)
  }

  /// Removes an item that came through a segment and is held by none; says nothing of others.
  func removeIfUnheld(_ item: Int64) throws(Failure) {
    guard try isRemovable(item) else { return }
    try dropItem(item)
  }

  private func isRemovable(_ item: Int64) throws(Failure) -> Bool {
    try findFate.bind(1, item)
    defer { findFate.reset() }
    guard try findFate.step() else { return false }
    let isFromSegment = findFate.text(0) == "segment"
    let isHeld = findFate.flag(4)
    return isFromSegment && !isHeld && !locks.isLocked(findFate, from: 1)
  }

  // MARK: Items

  private func write(
    _ given: ContentRecord,
    body: StagedBody?,
    isStored: (ContentDigest) throws(Failure) -> Bool
  ) throws(Failure) {
    var record = given
    if let body {
      record.digest = body.digest
      record.size = body.size
    }
    let existing = try item(of: record.url)
    if body == nil, let digest = record.digest, digest != existing?.digest {
      guard try isStored(digest) else {
        throw Failure(.storeDamaged, "no stored body `\(digest)` for `\(record.url)`")
      }
    }
    if let existing {
      if let digest = existing.digest, digest != record.digest {
        released.insert(digest)
      }
      try RecordRow.bind(record, to: updateItem)
      try updateItem.run()
    } else {
      try RecordRow.bind(record, to: insertItem)
      try insertItem.run()
    }
  }

  private func item(of url: String) throws(Failure) -> (number: Int64, digest: ContentDigest?)? {
    try findItem.bind(1, url)
    defer { findItem.reset() }
    guard try findItem.step() else { return nil }
    return (findItem.number(0), findItem.optionalDigest(1))
  }

  private func dropItem(_ item: Int64) throws(Failure) {
    try deleteItem.bind(1, item)
    defer { deleteItem.reset() }
    guard try deleteItem.step() else { return }
    removed.append(
      RemovedContent(url: deleteItem.text(0), id: deleteItem.text(1), size: deleteItem.number(2))
    )
    if let digest = deleteItem.optionalDigest(3) {
      released.insert(digest)
    }
  }

  // MARK: Segments

  private func join(_ key: SegmentKey, _ urls: [String]) throws(Failure) {
    if try segment(key) == nil {
      try write(SegmentRecord(key: key), manifest: nil)
    }
    guard let segment = try segment(key)?.number else { return }
    // Later than all earlier ones, so that those who join again stand in their new order.
    let last = try database.prepare("SELECT max(position) FROM members WHERE segment=?1")
    try last.bind(1, segment)
    var position = try last.step() ? last.optionalNumber(0) ?? -1 : -1
    last.reset()
    for url in urls {
      guard let item = try item(of: url)?.number else {
        throw Failure(.internal, "`\(url)` joins segment `\(key.name)` without a record")
      }
      position += 1
      try insertMember.bind(1, segment)
      try insertMember.bind(2, item)
      try insertMember.bind(3, position)
      try insertMember.run()
      try markJoined.bind(1, item)
      try markJoined.run()
    }
  }

  private func leave(_ segment: Int64, _ item: Int64) throws(Failure) {
    try deleteMember.bind(1, segment)
    try deleteMember.bind(2, item)
    try deleteMember.run()
    guard database.changeCount > 0 else { return }
    try removeIfUnheld(item)
  }

  private func write(_ given: SegmentRecord, manifest: StagedBody?) throws(Failure) {
    var record = given
    if let manifest {
      record.manifest = manifest.digest
    }
    if let old = try segment(record.key)?.manifest, old != record.manifest {
      released.insert(old)
    }
    let replacement = try database.prepare(SegmentRow.replacement)
    try SegmentRow.bind(record, to: replacement)
    try replacement.run()
  }

  private func forget(_ key: SegmentKey) throws(Failure) {
    guard let segment = try segment(key) else { return }
    if let manifest = segment.manifest {
      released.insert(manifest)
    }
    var items: [Int64] = []
    let members = try database.prepare(
      "SELECT item FROM members WHERE segment=?1 ORDER BY position"
    )
    try members.bind(1, segment.number)
    while try members.step() {
      items.append(members.number(0))
    }
    for item in items {
      try leave(segment.number, item)
    }
    let deletion = try database.prepare("DELETE FROM segments WHERE segment=?1")
    try deletion.bind(1, segment.number)
    try deletion.run()
  }

  private func segment(
    _ key: SegmentKey
  ) throws(Failure) -> (number: Int64, manifest: ContentDigest?)? {
    try findSegment.bind(1, key.identity)
    try findSegment.bind(2, key.name)
    defer { findSegment.reset() }
    guard try findSegment.step() else { return nil }
    return (findSegment.number(0), findSegment.optionalDigest(1))
  }
}
