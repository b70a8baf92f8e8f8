internal import Glibc
package import PrefetchCore

extension DiskStore {
  /// Sees to it that so many bytes more can be stored within the rules, and drops bodies for it.
  ///
  /// All or nothing: what would not be enough is not dropped.
  package func makeRoom(
    for bytes: Int64,
    of beneficiary: Eviction.Beneficiary,
    rules: Eviction.Rules
  ) throws(Failure) -> Room {
    var room = Room()
    if let limit = rules.limit { room.remaining = max(0, limit - (try usage())) }
    let shortage = try shortage(bytes, rules)
    guard shortage.largest > 0 else { return room }
    room.disk = try disk(rules)
    guard rules.isAutomatic else {
      room.standing = shortage.cache > 0 ? .cacheFull : .diskTooFull
      return room
    }
    let choice = try choice(shortage.largest, for: beneficiary, rules)
    if choice.freed >= shortage.largest {
      room.removed = try evict(choice.items)
    } else {
      room.standing = choice.freed < shortage.cache ? .cacheFull : .diskTooFull
    }
    return room
  }

  /// Brings the cache back within its limits, as far as that goes.
  ///
  /// For the cache's own size anything may go; for what is free on the disk, only what no segment
  /// holds: nothing is gained by dropping what the next run would fetch again.
  package func applyLimits(_ rules: Eviction.Rules) throws(Failure) -> Room {
    var room = Room()
    let cache = try shortage(0, rules).cache
    if cache > 0 {
      let choice = try choice(cache, for: .limits, rules)
      room.removed += try evict(choice.items)
      if choice.freed < cache { room.standing = .cacheFull }
    }
    let disk = try shortage(0, rules).disk
    if disk > 0 {
      let choice = try choice(disk, for: .segment(priority: nil), rules)
      room.removed += try evict(choice.items)
      if choice.freed < disk, room.standing == .enough { room.standing = .diskTooFull }
    }
    return room
  }

  private func choice(
    _ need: Int64,
    for beneficiary: Eviction.Beneficiary,
    _ rules: Eviction.Rules
  ) throws(Failure) -> Eviction.Choice {
    Eviction.choose(
      try evictionCandidates(),
      need: need,
      for: beneficiary,
      order: rules.order,
      now: clockStart
    )
  }

  /// The bytes of all bodies that the index names; counted once, then kept up to date.
  package func usage() throws(Failure) -> Int64 {
    if let usedBytes { return usedBytes }
    let bytes = try totals().bytes
    usedBytes = bytes
    return bytes
  }

  /// What is free of the file system, and what must stay so.
  private func disk(_ rules: Eviction.Rules) throws(Failure) -> Room.Disk {
    var status = statvfs()
    try SystemCall.require("examine", root.path) { unsafe fstatvfs(root.number, &status) }
    let unit = UInt64(status.f_frsize)
    let bytes = { (blocks: UInt64) in
      Int64(clamping: blocks.multipliedReportingOverflow(by: unit).partialValue)
    }
    return Room.Disk(
      free: bytes(UInt64(status.f_bavail)),
      minimumFree: rules.minimumFree(of: bytes(UInt64(status.f_blocks)))
    )
  }

  /// Every body as every item names it.
  package func evictionCandidates() throws(Failure) -> [Eviction.Candidate] {
    let database = try database()
    let ranks = try ranks(database)
    let uses = try lastUses()
    let locks = LockRule(now: clockStart)
    let rows = try database.prepare(
      """
      SELECT item, digest, size, holders, expires_at, fetched_at, locked, locked_until, \
      locked_process, url FROM items JOIN item_details USING (item) WHERE digest IS NOT NULL
      """
    )
    var candidates: [Eviction.Candidate] = []
    while try rows.step() {
      guard let digest = rows.optionalDigest(1) else { continue }
      var lastUse = rows.instant(5) ?? Instant(milliseconds: 0)
      if !uses.isEmpty, let use = uses[rows.text(9)] { lastUse = max(lastUse, use) }
      var candidate = Eviction.Candidate(
        item: rows.number(0),
        digest: digest,
        size: rows.number(2),
        lastUse: lastUse
      )
      candidate.holder = ranks[rows.number(3)]
      candidate.expiresAt = rows.instant(4)
      candidate.isLocked = locks.isLocked(rows, from: 6)
      candidates.append(candidate)
    }
    return candidates
  }

  /// Drops the bodies of items; those that no segment holds go as a whole.
  package func evict(_ items: [Int64]) throws(Failure) -> [RemovedContent] {
    let records = try recordQuery()
    return try change { (writer, _) throws(Failure) in
      for item in items {
        try writer.evict(item) { item throws(Failure) in try records.record(item) }
      }
    }
  }

  /// Removes items that no segment holds and whose content has expired.
  package func removeExpired() throws(Failure) -> [RemovedContent] {
    let rows = try database().prepare(
      """
      SELECT item, locked, locked_until, locked_process \
      FROM items JOIN item_details USING (item) WHERE holders=0 AND expires_at<=?1
      """
    )
    try rows.bind(1, clockStart)
    let locks = LockRule(now: clockStart)
    var items: [Int64] = []
    while try rows.step() {
      if !locks.isLocked(rows, from: 1) { items.append(rows.number(0)) }
    }
    return try evict(items)
  }

  /// The most important subscribed segment of each set.
  private func ranks(_ database: Database) throws(Failure) -> [Int64: Eviction.Rank] {
    let rows = try database.prepare(
      """
      SELECT holders, priority FROM holder_sets JOIN segments USING (segment) \
      WHERE state<>'unsubscribed'
      """
    )
    var ranks: [Int64: Eviction.Rank] = [:]
    while try rows.step() {
      let rank = Eviction.Rank(priority: rows.optionalNumber(1).map(Int.init))
      ranks[rows.number(0)] = max(rank, ranks[rows.number(0)] ?? rank)
    }
    return ranks
  }

  private func shortage(
    _ bytes: Int64,
    _ rules: Eviction.Rules
  ) throws(Failure) -> (cache: Int64, disk: Int64, largest: Int64) {
    var cache: Int64 = 0
    var disk: Int64 = 0
    if let limit = rules.limit {
      cache = max(0, try usage() + bytes - limit)
    }
    if rules.minimumFree != 0 {
      let state = try self.disk(rules)
      disk = max(0, state.minimumFree + bytes - state.free)
    }
    return (cache, disk, max(cache, disk))
  }
}
