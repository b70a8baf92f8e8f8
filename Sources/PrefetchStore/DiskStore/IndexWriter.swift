internal import PrefetchCore

/// Applies changes to the index and collects what they release.
final class IndexWriter {
  /// Returns whether rows may name an unnamed object; an unplanned one needs room in `cache.size`.
  typealias Adoption = (ContentDigest, _ isPlanned: Bool) throws(Failure) -> Bool

  /// Digests that changed rows named, with known sizes; other rows may still name them.
  private(set) var released: [ContentDigest: Int64?] = [:]
  private(set) var removed: [RemovedContent] = []

  private let items: ItemRows
  private let holders: HolderSets
  private let segments: SegmentRows
  private let documents: DocumentRows
  private let listMembers: Statement
  private let dating: Statement
  private var locks = LockRule()
  /// URLs that users removed while this run had them in flight; not to be written again.
  private var withdrawn: Set<String> = []
  /// Whether other processes have written since the run began: earlier reads may be outdated.
  private var othersHaveWritten = false
  /// Returns whether other runs may count on removed rows; called once a transaction.
  private var isBusy: () throws(Failure) -> Bool = { false }
  private var isKnownBusy: Bool?
  private(set) var ownReleases: Set<Int64> = []
  private var newReleases: Set<Int64> = []
  /// URLs of items whose bodies were removed before their rows could be written.
  private(set) var lost: Set<String> = []
  private var newLost: Set<String> = []
  /// Bodies evicted for room; keeping them for other runs would free nothing.
  private(set) var evicted: Set<ContentDigest> = []
  /// Holder sets whose segments may no longer be quiet.
  private var disturbed: Set<Int64> = []

  init(_ database: Database) {
    items = ItemRows(database)
    holders = HolderSets(database)
    segments = SegmentRows(database)
    documents = DocumentRows(database)
    listMembers = database.prepare("SELECT item FROM items WHERE holders=?1 ORDER BY item")
    dating = database.prepare(
      "UPDATE upkeep SET newest_date=max(coalesce(newest_date, ?1), ?1)"
    )
  }

  /// Begins a transaction: `locks` are in force, `files` names the files of new bodies.
  func begin(
    files: [ContentDigest: ObjectFile] = [:],
    locks: LockRule,
    withdrawn: Set<String> = [],
    othersHaveWritten: Bool,
    isBusy: @escaping () throws(Failure) -> Bool
  ) {
    self.locks = locks
    self.withdrawn = withdrawn
    self.othersHaveWritten = othersHaveWritten
    self.isBusy = isBusy
    isKnownBusy = nil
    released = [:]
    removed = []
    disturbed = []
    evicted = []
    newReleases = []
    newLost = []
    items.begin(files: files)
    holders.begin()
    segments.begin()
  }

  func end() throws(Failure) {
    try endQuiet()
    try items.end()
  }

  func didCommit() {
    ownReleases.formUnion(newReleases)
    lost.formUnion(newLost)
  }

  func apply(
    _ change: StoreChange,
    adopting adopt: Adoption,
    record: (Int64) throws(Failure) -> ContentRecord?
  ) throws(Failure) {
    switch change {
    case .store(let record, let body, let others, _) where withdrawn.contains(record.url):
      for body in [body].compactMap(\.self) + others {
        released.updateValue(body.size, forKey: body.digest)
      }
    case .store(let record, let body, _, let keys):
      try write(record, body: body, joining: keys, adopting: adopt)
    case .arrived(let arrivals) where withdrawn.isEmpty:
      try write(arrivals, adopting: adopt)
    case .arrived(let arrivals):
      for arrival in arrivals where withdrawn.contains(arrival.url) {
        released.updateValue(arrival.body.size, forKey: arrival.body.digest)
      }
      try write(arrivals.filter { !withdrawn.contains($0.url) }, adopting: adopt)
    case .confirm(let confirmations):
      if othersHaveWritten {
        for confirmation in confirmations where try items.row(item: confirmation.item) == nil {
          _ = try restore(confirmation.item, adopting: adopt, record: record)
        }
      }
      try items.renewTimes(confirmations)
    case .join(let key, let numbers):
      let segment = try segments.makingNumber(of: key)
      for number in numbers {
        // Another process may have removed the item since it was read.
        var row = try items.row(item: number)
        if row == nil { row = try restore(number, adopting: adopt, record: record) }
        if let row { try join(segment, row) }
      }
    case .joinNew(let key, let urls):
      try join(key, urls)
    case .leave(let key, let numbers):
      guard let segment = try segments.number(of: key) else { return }
      for number in numbers {
        guard let row = try items.row(item: number) else { continue }
        try leave(segment, key, row)
      }
    case .segment(let record, let manifest):
      try write(record, manifest: manifest, adopting: adopt)
    case .documents(let key, let records, _):
      try write(records, of: key, adopting: adopt)
    case .evict(let digests, let identity, let failure):
      for digest in digests { try evict(digest, for: identity, because: failure, record: record) }
    case .forget(let key):
      try forget(key)
    case .dated(let date):
      try dating.run(date)
    case .sighted(let url, let sight):
      if let row = try items.row(url: url) { try items.setSight(sight, of: row.item) }
    }
  }

  /// Changes only the state in the current row; `given` becomes the row of an item without one.
  func setState(
    of given: ContentRecord,
    record: (Int64) throws(Failure) -> ContentRecord?,
    _ state: (ContentRecord) -> ItemState
  ) throws(Failure) {
    guard let row = try items.row(url: given.url), var known = try record(row.item)
    else {
      var new = given
      // The body was removed with its row.
      if new.digest != nil { new.forgetBody() }
      new.state = state(new)
      guard try items.insert(new, holders: 0) else {
        throw Failure(.internal, "`\(new.url)` has a row that was not found")
      }
      return
    }
    known.state = state(known)
    guard known.state != row.state else { return }
    disturbed.insert(row.holders)
    try items.update(row, to: known)
  }

  /// Removes an item that a run has in flight, and keeps that run from writing the item again.
  func withdraw(url: String) throws(Failure) {
    let item = try items.row(url: url)?.item
    try remove(url: url, isHeldToo: true)
    try items.recordWithdrawal(of: url, item: item, at: RunLock.now)
  }

  func empty(_ given: ContentRecord) throws(Failure) {
    guard let row = try items.row(url: given.url),
      let removal = try items.removal(of: row.item, locks: locks)
    else { return }
    try empty(row, given, removal)
  }

  private func empty(
    _ row: ItemRows.Row,
    _ given: ContentRecord,
    _ removal: ItemRows.Removal,
    because failure: Failure? = nil
  ) throws(Failure) {
    guard let digest = row.digest else { return }
    var (record, content) = (given, removal.content)
    record.forgetBody()
    if let failure, record.state != .paused {
      record.state = .failed
      record.failure = failure
    }
    try release(row.item)
    try setFiles([], of: row.item)
    try items.update(row, to: record)
    released.updateValue(row.size, forKey: digest)
    disturbed.insert(row.holders)
    content.segments = try keys(of: row.holders)
    removed.append(content)
  }

  func remove(url: String, isHeldToo: Bool) throws(Failure) {
    guard let row = try items.row(url: url), isHeldToo || row.holders == 0 else {
      return
    }
    guard var removal = try items.removal(of: row.item, locks: locks) else { return }
    removal.content.segments = try keys(of: removal.holders)
    try drop(row.item, removal)
  }

  func removeIfUnheld(_ item: Int64) throws(Failure) {
    guard let row = try items.row(item: item), row.isDeclared,
      row.holders == 0,
      let removal = try items.removal(of: item, locks: locks), !removal.isLocked
    else { return }
    try drop(item, removal)
  }

  func forgetBody(
    _ digest: ContentDigest,
    record: (String) throws(Failure) -> ContentRecord?
  ) throws(Failure) {
    for url in try items.urls(naming: digest) + items.owners(ofFile: digest) {
      guard let row = try items.row(url: url), var emptied = try record(url) else {
        continue
      }
      // The other files of the item stay reserved until the lost file is fetched.
      var left = emptied.files.filter { $0.digest != digest && $0.role != .playlist }
      for index in left.indices { left[index].isReserved = true }
      emptied.forgetBody()
      emptied.files = left
      released.updateValue(nil, forKey: digest)
      if let main = row.digest { released.updateValue(row.size, forKey: main) }
      try setFiles(left, of: row.item)
      disturbed.insert(row.holders)
      try release(row.item)
      try items.update(row, to: emptied)
    }
  }

  func remove(item: Int64) throws(Failure) {
    guard let removal = try items.removal(of: item, locks: locks) else { return }
    try drop(item, removal)
  }

  /// Evicts a body from all items that name it, or from none when one of these items is needed.
  private func evict(
    _ digest: ContentDigest,
    for identity: String,
    because failure: Failure?,
    record: (Int64) throws(Failure) -> ContentRecord?
  ) throws(Failure) {
    let names = try items.urls(naming: digest)
    evicted.insert(digest)
    for url in names {
      guard let row = try items.row(url: url),
        let removal = try items.removal(of: row.item, locks: locks), !removal.isLocked,
        try !isDeclaredElsewhere(row.holders, than: identity)
      else { return }
    }
    for url in names {
      guard let row = try items.row(url: url) else { continue }
      try evict(row.item, because: failure, record: record)
    }
  }

  private func isDeclaredElsewhere(_ set: Int64, than identity: String) throws(Failure) -> Bool {
    for segment in try holders.segments(of: set) {
      guard let key = try segments.key(of: segment), key.identity != identity,
        try segments.find(key)?.isSubscribed == true
      else { continue }
      return true
    }
    return false
  }

  /// Evicts an item: a segment's item keeps its record, any other is removed.
  private func evict(
    _ item: Int64,
    because failure: Failure?,
    record: (Int64) throws(Failure) -> ContentRecord?
  ) throws(Failure) {
    guard let row = try items.row(item: item),
      var removal = try items.removal(of: item, locks: locks)
    else { return }
    removal.content.wasEvicted = true
    guard row.holders != 0 else { return try drop(item, removal) }
    guard let known = try record(item) else { return }
    try empty(row, known, removal, because: failure)
  }

  private func keys(of set: Int64) throws(Failure) -> [SegmentKey] {
    var keys: [SegmentKey] = []
    for segment in try holders.segments(of: set) {
      guard let key = try segments.key(of: segment) else { continue }
      keys.append(key)
    }
    return keys
  }

  // MARK: Items

  private func write(
    _ given: ContentRecord,
    body: StagedBody?,
    joining keys: [SegmentKey],
    adopting adopt: Adoption
  ) throws(Failure) {
    var record = given
    if let body {
      record.digest = body.digest
      record.size = body.size
    }
    let existing = try items.row(url: record.url)
    if body == nil, let digest = record.digest, digest != existing?.digest {
      if try !adopt(digest, true) {
        guard othersHaveWritten else {
          throw Failure(.storeDamaged, "no stored body `\(digest)` for `\(record.url)`")
        }
        // The last row was removed meanwhile, and the body with it.
        record.forgetBody()
        newLost.insert(record.url)
      }
    }
    var set = existing?.holders ?? 0
    for key in keys {
      set = try holders.adding(try segments.makingNumber(of: key), to: set)
    }
    if record.digest == nil, let existing, existing.digest != nil {
      guard !othersHaveWritten else {
        // Another run stored a body that this run could not get; this record must not remove it.
        if set != existing.holders { try items.setHolders(set, of: existing) }
        return
      }
      try release(existing.item)
    }
    guard var row = existing else {
      guard try items.insert(record, holders: set) else {
        throw Failure(.internal, "`\(record.url)` has a row that was not found")
      }
      disturbed.insert(set)
      if !record.files.isEmpty, let new = try items.row(url: record.url) {
        try setFiles(record.otherFiles, of: new.item)
      }
      return
    }
    if row.digest != record.digest || isDisturbing(record.state, after: row.state) {
      disturbed.insert(row.holders)
      disturbed.insert(set)
    }
    if let digest = row.digest, digest != record.digest {
      released.updateValue(row.size, forKey: digest)
    }
    row.holders = set
    try setFiles(record.otherFiles, of: row.item)
    // An item paused during a run stays paused, unless the item was requested alone.
    if row.state == .paused, !keys.isEmpty { record.state = .paused }
    try items.update(row, to: record)
  }

  /// Inserts arrivals in batches; a URL that already has a row is written singly.
  private func write(
    _ arrivals: [Arrival],
    adopting adopt: Adoption
  ) throws(Failure) {
    var last: (segment: SegmentKey?, set: Int64) = (nil, 0)
    for start in stride(from: 0, to: arrivals.count, by: RowBatch.size) {
      let group = arrivals[start..<min(start + RowBatch.size, arrivals.count)]
      var numbers: [Int64] = []
      for arrival in group {
        if let key = arrival.terms.segment, last.segment != key {
          last = (key, try holders.adding(try segments.makingNumber(of: key), to: 0))
        }
        let set = arrival.terms.segment == nil ? 0 : last.set
        disturbed.insert(set)
        numbers.append(try items.draft(arrival, holders: set))
      }
      guard try items.insertDrafts() < group.count else { continue }
      for (arrival, number) in zip(group, numbers)
      where try items.row(url: arrival.url)?.item != number {
        try write(
          arrival.record,
          body: arrival.body,
          joining: [arrival.terms.segment].compactMap(\.self),
          adopting: adopt
        )
      }
    }
  }

  /// Restores an item that another process removed, with its body if that exists.
  private func restore(
    _ item: Int64,
    adopting adopt: Adoption,
    record: (Int64) throws(Failure) -> ContentRecord?
  ) throws(Failure) -> ItemRows.Row? {
    guard let known = try items.released(item) else { return nil }
    if let newer = try items.row(url: known.url) { return newer }
    // The check must come before a row names the digest.
    let hasLostBody = if let digest = known.digest { try !adopt(digest, false) } else { false }
    let row = try items.restore(item)
    if let row, let known = try record(item) {
      try setFiles(known.otherFiles, of: row.item)
    }
    guard hasLostBody, let row, var emptied = try record(item) else { return row }
    emptied.forgetBody()
    try items.update(row, to: emptied)
    return try items.row(item: item)
  }

  private func isDisturbing(_ state: ItemState, after old: ItemState?) -> Bool {
    state != old && (state == .paused || state == .failed)
  }

  private func drop(_ item: Int64, _ removal: ItemRows.Removal) throws(Failure) {
    try release(item)
    try setFiles([], of: item)
    try items.delete(item)
    removed.append(removal.content)
    disturbed.insert(removal.holders)
    if let digest = removal.digest {
      released.updateValue(removal.digestSize, forKey: digest)
    }
  }

  private func release(_ item: Int64) throws(Failure) {
    if isKnownBusy == nil { isKnownBusy = try isBusy() }
    guard isKnownBusy == true else { return }
    newReleases.insert(item)
    try items.release(item, at: RunLock.now)
  }

  private func setFiles(_ files: [BundleFile], of item: Int64) throws(Failure) {
    let old = try items.files(of: item)
    guard !old.isEmpty || !files.isEmpty else { return }
    let new = Set(files.map(\.digest))
    guard Set(old.keys) != new else { return }
    for (digest, size) in old where !new.contains(digest) {
      released.updateValue(size, forKey: digest)
    }
    try items.setFiles(files, of: item)
  }

  // MARK: Segments

  private func join(_ key: SegmentKey, _ urls: [String]) throws(Failure) {
    let segment = try segments.makingNumber(of: key)
    for url in urls where !withdrawn.contains(url) {
      guard let row = try items.row(url: url) else {
        throw Failure(.internal, "`\(url)` joins segment `\(key.name)` without a record")
      }
      try join(segment, row)
    }
  }

  private func join(_ segment: Int64, _ row: ItemRows.Row) throws(Failure) {
    let set = try holders.adding(segment, to: row.holders)
    guard set != row.holders else { return }
    try items.setHolders(set, of: row)
  }

  private func leave(
    _ segment: Int64,
    _ key: SegmentKey,
    _ row: ItemRows.Row
  ) throws(Failure) {
    let set = try holders.removing(segment, from: row.holders)
    guard set != row.holders else { return }
    if set == 0, var removal = try items.removal(of: row.item, locks: locks),
      !removal.isLocked
    {
      removal.content.segments = [key]
      try items.setHolders(0, of: row)
      return try drop(row.item, removal)
    }
    try items.setHolders(set, of: row)
  }

  private func write(
    _ given: SegmentRecord,
    manifest: StagedBody?,
    adopting adopt: Adoption
  ) throws(Failure) {
    // A quiet mark in the record describes the state after all earlier changes.
    try endQuiet()
    var record = given
    // Another run may have removed something that this run does not know of.
    if othersHaveWritten { record.quiet = nil }
    let old = try segments.find(record.key)?.manifest
    if let manifest {
      record.manifest = manifest.digest
    } else if othersHaveWritten, let shared = record.manifest, shared != old,
      try !adopt(shared, false)
    {
      record.forgetManifest()
    }
    if let old, old != record.manifest {
      released.updateValue(nil, forKey: old)
    }
    try segments.write(record)
  }

  private func write(
    _ records: [DocumentRecord],
    of key: SegmentKey,
    adopting adopt: Adoption
  ) throws(Failure) {
    let segment = try segments.makingNumber(of: key)
    let old = try documents.digests(of: segment)
    var present: [DocumentRecord] = []
    for record in records {
      let isThere = old.contains(record.digest) ? true : try adopt(record.digest, false)
      if isThere { present.append(record) }
      guard isThere || othersHaveWritten else {
        throw Failure(.storeDamaged, "no stored document `\(record.digest)` for `\(record.url)`")
      }
    }
    try documents.replace(of: segment, with: present)
    for digest in old { released.updateValue(nil, forKey: digest) }
  }

  private func forget(_ key: SegmentKey) throws(Failure) {
    guard let segment = try segments.find(key) else { return }
    for digest in try documents.digests(of: segment.number) {
      released.updateValue(nil, forKey: digest)
    }
    try documents.replace(of: segment.number, with: [])
    if let manifest = segment.manifest {
      released.updateValue(nil, forKey: manifest)
    }
    for set in try holders.sets(with: segment.number) {
      for item in try listMembers.all(set, read: { row in row.number(0) }) {
        guard let row = try items.row(item: item) else { continue }
        try leave(segment.number, key, row)
      }
    }
    try segments.delete(segment.number)
  }

  private func endQuiet() throws(Failure) {
    guard !disturbed.isEmpty else { return }
    var touched: Set<Int64> = []
    for set in disturbed {
      touched.formUnion(try holders.segments(of: set))
    }
    for segment in touched {
      try segments.endQuiet(of: segment)
    }
    disturbed = []
  }
}
