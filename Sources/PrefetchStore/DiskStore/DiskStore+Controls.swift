internal import Glibc
package import PrefetchCore

extension DiskStore {
  /// Owner and end of a lock that protects an item from removal and eviction.
  package struct Guardian: Hashable, Sendable {
    /// Process ID; nil for a user, whose lock outlives every process.
    package var process: Int32?
    package var until: Instant?

    package static var thisProcess: Guardian { Guardian(process: getpid()) }

    package init(process: Int32? = nil, until: Instant? = nil) {
      self.process = process
      self.until = until
    }
  }

  /// Locks items; replaces an earlier lock of the same guardian.
  package func lock(_ urls: [String], for guardian: Guardian) throws(Failure) {
    var begun: Int64 = 0
    if let process = guardian.process {
      guard let beginning = LockRule.beginning(of: process) else {
        throw Failure(.notFound, "there is no process \(process)")
      }
      begun = beginning
    }
    let process = Int(guardian.process ?? 0)
    try changeLocks(
      """
      INSERT OR REPLACE INTO item_locks (item, process, begun, until) \
      SELECT item, ?2, ?3, ?4 FROM items WHERE url=?1
      """
    ) { (statement: borrowing Statement) throws(Failure) in
      for url in urls { try statement.run(url, process, begun, guardian.until) }
    }
  }

  /// Removes the locks of one process; with nil, the locks of all guardians.
  package func unlock(_ urls: [String], of process: Int32? = nil) throws(Failure) {
    try changeLocks(
      """
      DELETE FROM item_locks WHERE item=(SELECT item FROM items WHERE url=?1) \
      AND (?2 IS NULL OR process=?2)
      """
    ) { (statement: borrowing Statement) throws(Failure) in
      for url in urls { try statement.run(url, process.map(Int.init)) }
    }
  }

  private func changeLocks(
    _ change: String,
    _ body: (borrowing Statement) throws(Failure) -> Void
  ) throws(Failure) {
    let database = try database()
    try requireWriting().claims.withWriterLock { () throws(Failure) in
      try database.transaction { () throws(Failure) in try body(database.prepare(change)) }
    }
  }

  package func locked(among urls: [String]) throws(Failure) -> Set<String> {
    try withBackup { () throws(Failure) in
      let database = try database()
      let rule = try LockRule(database, now: expiryTime())
      let find = database.prepare("SELECT item FROM items WHERE url=?1")
      var locked: Set<String> = []
      for url in urls {
        try find.set(url)
        if try find.step(), rule.isLocked(find.number(0)) { locked.insert(url) }
        find.reset()
      }
      return locked
    }
  }

  package func pause(_ records: [ContentRecord]) throws(Failure) {
    try setStates(of: records) { _ in .paused }
  }

  package func resume(_ records: [ContentRecord]) throws(Failure) {
    try setStates(of: records) { record in
      guard record.state == .paused else { return record.state }
      return record.digest == nil ? .pending : .cached
    }
  }

  /// Adds rows for items that have none, so that controls can apply to them.
  package func introduce(_ records: [ContentRecord]) throws(Failure) {
    try setStates(of: records) { $0.state }
  }

  private func setStates(
    of records: [ContentRecord],
    _ state: (ContentRecord) -> ItemState
  ) throws(Failure) {
    guard !records.isEmpty else { return }
    let known = try recordQuery()
    _ = try change { (writer, _) throws(Failure) in
      for record in records {
        try writer.setState(
          of: record,
          record: { item throws(Failure) in try known.record(item) },
          state
        )
      }
    }
  }

  package static func modificationTime(ofFileAt path: String) throws(Failure) -> Instant {
    let number = SystemCall.number {
      unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard number >= 0 else { throw .system(-number, "open", path) }
    let status = try OpenFile(owning: number, path: path).status()
    return Instant(milliseconds: status.modified / 1_000_000)
  }

  /// Removes items for a user; runs do not write items in `claimed` again.
  package func remove(
    _ urls: [String],
    claimed: Set<String>
  ) throws(Failure) -> [RemovedContent] {
    let removed = try change { (writer, _) throws(Failure) in
      for url in urls {
        if claimed.contains(url) {
          try writer.withdraw(url: url)
        } else {
          try writer.remove(url: url, isHeldToo: true)
        }
      }
    }
    for url in urls { forgetPartial(url) }
    return removed
  }

  package func stage(
    fileAt path: String,
    limit: Int64,
    alsoHashing algorithms: Set<DigestAlgorithm> = []
  ) throws(Failure) -> StagedBody {
    let number = SystemCall.number {
      unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard number >= 0 else { throw .system(-number, "open", path) }
    return try stage(OpenFile(owning: number, path: path), limit: limit, alsoHashing: algorithms)
  }

  func stage(
    _ file: OpenFile,
    limit: Int64,
    alsoHashing algorithms: Set<DigestAlgorithm> = []
  ) throws(Failure) -> StagedBody {
    let path = file.path
    let status = try file.status()
    guard status.kind == .file else { throw Failure(.disk, "`\(path)` is not a file") }
    guard status.size <= limit else {
      throw Failure(.tooLarge, "`\(path)` has \(status.size) bytes, but only \(limit) are allowed")
    }
    let sink = try beginBody(BodyPlan(algorithms: algorithms.subtracting([.sha256])))
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try file.read(into: &chunk, at: sink.size)
      guard count > 0 else { break }
      guard sink.size + Int64(count) <= limit else {
        throw Failure(.tooLarge, "`\(path)` has more than the \(limit) bytes that are allowed")
      }
      try sink.append(unsafe chunk.span.bytes.extracting(0..<count))
    }
    return try sink.finish()
  }

  package func empty(_ records: [ContentRecord]) throws(Failure) -> [RemovedContent] {
    try change { (writer, _) throws(Failure) in
      for record in records { try writer.empty(record) }
    }
  }

  package func thumbnails(excluding urls: Set<String>) throws(Failure) -> Set<String> {
    let rows = try database().prepare(
      """
      SELECT \(RecordRow.columns) FROM \(RecordRow.source)
      WHERE mark IS NOT NULL OR holders<>0
      """
    )
    var thumbnails: Set<String> = []
    while try rows.step() {
      let record = try StoredRow(rows).whole(isNamed: false)
      guard let thumbnail = record.thumbnail, !urls.contains(record.url) else { continue }
      thumbnails.insert(thumbnail)
    }
    return thumbnails
  }
}
