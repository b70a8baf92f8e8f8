internal import Glibc
package import PrefetchCore

/// What people and their programs say of single items.
extension DiskStore {
  /// The person or process that protects an item from removal and eviction, and how long.
  package struct Guardian: Hashable, Sendable {
    /// Nil for a person, whose lock outlives every process.
    package var process: Int32?
    package var until: Instant?

    package static var thisProcess: Guardian { Guardian(process: getpid()) }

    package init(process: Int32? = nil, until: Instant? = nil) {
      self.process = process
      self.until = until
    }
  }

  /// A second lock of the same guardian takes the place of the first.
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

  /// Takes back one guardian's locks, or those of all.
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
    try requireWriting().claims.inTurn { () throws(Failure) in
      try database.transaction { () throws(Failure) in try body(database.prepare(change)) }
    }
  }

  /// Items that are locked at the moment, of these.
  package func locked(among urls: [String]) throws(Failure) -> Set<String> {
    try answering { () throws(Failure) in
      let database = try database()
      let rule = try LockRule(database, now: expiryTime())
      let find = try database.prepare("SELECT item FROM items WHERE url=?1")
      var locked: Set<String> = []
      for url in urls {
        try find.set(url)
        if try find.step(), rule.isLocked(find.number(0)) { locked.insert(url) }
        find.reset()
      }
      return locked
    }
  }

  /// Has runs leave items alone, those too of which nothing is known yet.
  package func pause(_ records: [ContentRecord]) throws(Failure) {
    try setStates(of: records) { _ in .paused }
  }

  package func resume(_ records: [ContentRecord]) throws(Failure) {
    try setStates(of: records) { record in
      guard record.state == .paused else { return record.state }
      return record.digest == nil ? .pending : .cached
    }
  }

  /// Gives rows to items of which nothing is known yet, so that something can be said of them.
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

  /// When a file that lies elsewhere was last changed.
  package static func modificationTime(ofFileAt path: String) throws(Failure) -> Instant {
    let number = SystemCall.number {
      unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard number >= 0 else { throw .system(-number, "open", path) }
    let status = try OpenFile(owning: number, path: path).status()
    return Instant(milliseconds: status.modified / 1_000_000)
  }

  /// Removes items at a person's word, with whatever came of them; what runs have `underWay` they do
  /// not bring back.
  package func remove(
    _ urls: [String],
    underWay: Set<String>
  ) throws(Failure) -> [RemovedContent] {
    let removed = try change { (writer, _) throws(Failure) in
      for url in urls {
        if underWay.contains(url) {
          try writer.withdraw(url: url)
        } else {
          try writer.remove(url: url, isHeldToo: true)
        }
      }
    }
    for url in urls { forgetPartial(url) }
    return removed
  }

  /// A copy of a file that lies elsewhere, as a body that has come.
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
      // It may grow while it is read.
      guard sink.size + Int64(count) <= limit else {
        throw Failure(.tooLarge, "`\(path)` has more than the \(limit) bytes that are allowed")
      }
      try sink.append(unsafe chunk.span.bytes.extracting(0..<count))
    }
    return try sink.finish()
  }

  /// Removes bodies, and keeps all else that is known of their items.
  package func empty(_ records: [ContentRecord]) throws(Failure) -> [RemovedContent] {
    try change { (writer, _) throws(Failure) in
      for record in records { try writer.empty(record) }
    }
  }

  /// Pictures that belong to items with a body or in a segment, but for these.
  package func thumbnails(besidesThoseOf urls: Set<String>) throws(Failure) -> Set<String> {
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
