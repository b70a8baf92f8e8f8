package import PrefetchCore

/// The cache on disk: bodies named by their digests, and an index that describes them.
///
/// One thread uses a store; its ``staging`` may serve other threads meanwhile.
package final class DiskStore: ContentStore {
  package let path: String
  /// Area where bodies arrive; in memory for a reading store.
  package let staging: StagingArea
  package internal(set) var diagnostics: [Diagnostic] = []

  /// Reader of last uses, by URL; called only when bodies have to be evicted.
  package var lastUses: () throws(Failure) -> [String: Instant] = { [:] }
  package var consumptions: () throws(Failure) -> [String: Instant] = { [:] }
  /// Data version at the last transaction; reveals commits of other processes.
  var writtenVersion: Int64?
  private var indexFile: FileStatus?
  package internal(set) var hasSeenOthers = false
  /// URLs that users had removed when claims began, with the times; nil without claims.
  var earlierWithdrawals: [String: Int64]?
  /// Lock of the run that uses the store; nil for changes outside a run.
  package var lock: RunLock?
  var used: Used?

  struct Used {
    var bytes: Int64
    var version: Int64?
  }

  package func drainDiagnostics() -> [Diagnostic] {
    defer { diagnostics = [] }
    return diagnostics
  }

  let root: Folder
  let index: DatabaseFile
  /// Objects of this cache; nil only in a reading store whose cache has none.
  let objects: ObjectFolder?
  /// Objects of the lower caches that can be opened; `lowerPaths` names all of them.
  var lower: [ObjectFolder] = []
  var lowerPaths: [String] = []
  package let clockStart: Instant
  let access: Access
  var times = FolderTimes()
  private var connection: Connection? {
    didSet {
      kept = KeptStatements()
      used = nil
    }
  }
  var kept = KeptStatements()
  /// Whether this store committed rows, which a copy of the index would lack.
  var hasCommitted = false
  /// Changes of the connection that ``recordUpkeep(_:)`` need not count again.
  var countedChanges: Int64 = 0
  var examined: [ContentDigest: ObjectFile] = [:]
  /// Digests of orphans; nil until the first search for a lost body.
  var lostBodies: LostBodies?
  package var isCancelled: () -> Bool = { false }

  enum Access {
    case reading
    case writing(Writing)
  }

  struct Writing {
    let layout: CacheLayout
    let partial: PartialFolder
    let publisher: ObjectPublisher
    let claims: Claims
    /// Shared lock on the cache; earlier versions need it exclusively.
    let shared: KernelLock
  }

  private enum Connection {
    case reading(DatabaseReading)
    case writing(Database)
  }

  init(
    path: String,
    root: Folder,
    index: DatabaseFile,
    objects: ObjectFolder?,
    clockStart: Instant,
    access: Access,
    staging: StagingArea
  ) {
    self.path = path
    self.root = root
    self.index = index
    self.objects = objects
    self.clockStart = clockStart
    self.access = access
    self.staging = staging
  }

  // MARK: Staging

  package func partials() throws(Failure) -> [String: PartialBody] {
    switch access {
    case .writing: try staging.parts()
    case .reading: objects == nil ? [:] : try CacheLayout.existingParts(in: root)?.all() ?? [:]
    }
  }

  package func partial(_ key: String) -> PartialBody? {
    staging.part(of: key)
  }

  package func forgetPartial(_ key: String) {
    staging.forgetPart(key)
  }

  // MARK: Objects

  package func withObject<Value>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    try FileBytes.withBytes(of: file(of: digest), read)
  }

  private func file(of digest: ContentDigest) throws(Failure) -> OpenFile {
    guard let file = try layers.open(digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    return file
  }

  package func storedSize(_ digest: ContentDigest) throws(Failure) -> Int64? {
    if let own = try sizeOnDisk(digest) { return own }
    return lower.lazy.compactMap { $0.status(of: digest)?.size }.first
  }

  /// Returns the size of a body's file in this cache alone.
  func sizeOnDisk(_ digest: ContentDigest) throws(Failure) -> Int64? {
    guard let folder = try objects?.folder(of: digest.prefix),
      let status = try folder.status(of: digest.hexadecimal), status.kind == .file
    else { return nil }
    return status.size
  }

  /// Returns the size of an intact object, even without a row: so bodies survive a lost index.
  package func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    try intactBody(digest)?.size
  }

  /// Returns an intact body, open, since another process may remove its name.
  package func intactBody(_ digest: ContentDigest) throws(Failure) -> IntactBody? {
    for folder in [objects].compactMap(\.self) + lower {
      // An unreadable object is fetched again.
      if let body = (try? intactBody(digest, in: folder)) ?? nil { return body }
    }
    return nil
  }

  private func intactBody(
    _ digest: ContentDigest,
    in folder: ObjectFolder
  ) throws(Failure) -> IntactBody? {
    guard let file = try folder.open(digest) else { return nil }
    let found = try file.objectFile()
    if examined[digest] != found, try !examine(file, digest) { return nil }
    return IntactBody(file: file, size: found.status.size)
  }

  // MARK: Connection

  func database() throws(Failure) -> Database {
    switch (connection, access) {
    case (.reading(let reading), _):
      return reading.database
    case (.writing(let database), _):
      return database
    case (nil, .reading):
      let reading = try index.openForReading(&diagnostics)
      connection = .reading(reading)
      return reading.database
    case (nil, .writing(let writing)):
      let database = try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        try index.openForWriting(&diagnostics)
      }
      try connect(database)
      return database
    }
  }

  /// Switches to an in-memory copy of the index, which can get rows that no file gets.
  func readFromCopy() throws(Failure) {
    read(try index.copyInMemory(of: database()))
  }

  func read(_ reading: DatabaseReading) {
    connection = .reading(reading)
  }

  func connect(_ database: Database) throws(Failure) {
    if case .writing(let writing) = access, writing.publisher.durability == .none {
      try database.execute("PRAGMA synchronous=OFF")
    }
    connection = .writing(database)
    indexFile = try index.status()
  }

  /// Returns whether the index is still the opened file, not a replacement by another process.
  private func isOurFile() throws(Failure) -> Bool {
    guard let indexFile, let current = try index.status() else { return true }
    return current.isSameFile(as: indexFile)
  }

  /// Whether the open index is still the file at its path; false after the cache has been removed.
  package var isInPlace: Bool {
    guard let indexFile else { return true }
    return IndexStamp.status("\(path)/\(CacheLayout.indexName)")?.isSameFile(as: indexFile) ?? false
  }

  /// Closes the store and removes unfinished bodies of killed processes; the log stays for readers.
  package func close(timeout: Duration = .seconds(1)) throws(Failure) {
    guard case .writing(let database) = connection else {
      connection = nil
      return
    }
    let writing = try requireWriting()
    if !database.isDamaged {
      try writing.partial.removeStale()
      try tidyUpParts(writing)
      try writing.claims.withWriterLock { () throws(Failure) in try recordUpkeep(database) }
    }
    connection = nil
    guard !database.isDamaged else {
      database.close()
      return try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        if try isOurFile() { try index.setAside(&diagnostics, because: nil) }
      }
    }
    try index.close(database, timeout: timeout)
  }

  /// Expires partial bodies by a clock that agrees with servers, except those of paused items.
  private func tidyUpParts(_ writing: Writing) throws(Failure) {
    let now = try expiryTime()
    try writing.partial.parts.tidyUp(now: now) { key in
      ((try? record(url: key)) ?? nil)?.state == .paused
    }
  }

  /// Runs a query, and repeats it on the last good copy when the index is damaged.
  func withBackup<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    do throws(Failure) {
      return try body()
    } catch {
      try recover(from: error)
      return try body()
    }
  }

  /// Replaces a damaged index by its last good copy, unless rows of this store would be lost.
  private func recover(from fault: Failure) throws(Failure) {
    guard fault.code == .storeDamaged else { throw fault }
    guard !hasCommitted else {
      // Closing sets the index aside, and the next run makes it good.
      if case .writing(let database) = connection { database.markDamaged() }
      throw fault
    }
    switch (access, connection) {
    case (.reading, .reading(let reading)) where !reading.isCopy:
      connection = nil
      connection = .reading(try index.openCopy(because: fault, &diagnostics))
    case (.writing(let writing), .writing(let database)):
      kept = KeptStatements()
      database.close()
      connection = nil
      let rebuilt = try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        // Another process may have replaced the damaged index first.
        guard try isOurFile() else { return try index.openForWriting(&diagnostics) }
        return try index.rebuild(because: fault, &diagnostics)
      }
      try connect(rebuilt)
      times = try recordedTimes(rebuilt)
    case (.reading, _), (.writing, _):
      throw fault
    }
  }

  static func withObjectsLocked<Value>(
    _ layout: CacheLayout,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let lock = try KernelLock.wait(
      .exclusive,
      on: layout.objects,
      for: layout.root.path,
      usedBy: CacheUser.others(inCache: layout.root)
    )
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }
}
