package import PrefetchCore

/// The cache on disk: bodies named by their digests, and an index that says what they are.
///
/// One thread uses it; its ``staging`` may serve others meanwhile.
package final class DiskStore: ContentStore {
  /// The folder as it was given.
  package let path: String
  /// Where bodies arrive; for a store that reads only, memory.
  package let staging: StagingArea
  /// What happened on the way that a person should read.
  package internal(set) var diagnostics: [Diagnostic] = []

  /// When items were last used, by URL; asked only when bodies have to go.
  package var lastUses: () throws(Failure) -> [String: Instant] = { [:] }
  /// When items were consumed, in the same way.
  package var consumptions: () throws(Failure) -> [String: Instant] = { [:] }
  /// What others had written when the last transaction began.
  var writtenVersion: Int64?
  /// The index as it was when it was opened.
  private var indexFile: FileStatus?
  /// Whether others have written since it was opened.
  package internal(set) var hasSeenOthers = false
  /// What people had removed, with the times, when claims began; nil where none were.
  var earlierWithdrawals: [String: Int64]?
  /// Of the run that uses it; nil for what changes things beside any run.
  package var lock: RunLock?
  /// Of all bodies, once that was counted.
  var used: Used?

  struct Used {
    var bytes: Int64
    /// As the connection numbers what others have written.
    var version: Int64?
  }

  /// The diagnostics since the last time, each once.
  package func takeDiagnostics() -> [Diagnostic] {
    defer { diagnostics = [] }
    return diagnostics
  }

  let root: Folder
  let index: DatabaseFile
  /// Nil only in a reading store whose cache holds no objects.
  let objects: ObjectFolder?
  /// Of caches below this one, and where these are.
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
  /// Statements of the present connection that are used again and again.
  var kept = KeptStatements()
  /// Whether rows were written, which a copy of the index would lack.
  var hasCommitted = false
  /// Those of the connection's changes that ``recordUpkeep(_:)`` has noted.
  var countedChanges: Int64 = 0
  /// Bodies that were hashed and found whole, and the files that they were then.
  var examined: [ContentDigest: ObjectFile] = [:]
  /// Objects that no row names, once one was looked for by another digest than SHA-256.
  var lostBodies: LostBodies?
  /// Asked while large bodies are hashed.
  package var isCancelled: () -> Bool = { false }

  enum Access {
    case reading
    case writing(Writing)
  }

  /// What only a writer has.
  struct Writing {
    let layout: CacheLayout
    let partial: PartialFolder
    let publisher: ObjectPublisher
    let claims: Claims
    /// Earlier versions want the cache for themselves, and end while this is held.
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
    guard let file = try layers.open(digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    return try FileBytes.withBytes(of: file, read)
  }

  /// The size of the file that bears the digest, here or below; nil where there is none.
  package func storedSize(_ digest: ContentDigest) throws(Failure) -> Int64? {
    if let own = try sizeOnDisk(digest) { return own }
    return lower.lazy.compactMap { $0.status(of: digest)?.size }.first
  }

  /// The size of the file that bears the digest in this cache itself; nil where there is none.
  func sizeOnDisk(_ digest: ContentDigest) throws(Failure) -> Int64? {
    guard let folder = try objects?.folder(of: digest.prefix),
      let status = try folder.status(of: digest.hexadecimal), status.kind == .file
    else { return nil }
    return status.size
  }

  /// The size of an object that the index need not name, if it is there and its bytes are right.
  ///
  /// After the index was lost, this is how a body is found again instead of fetched again.
  package func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    for folder in [objects].compactMap(\.self) + lower {
      // An object that cannot be read is fetched again.
      if let size = (try? intactObject(digest, in: folder)) ?? nil { return size }
    }
    return nil
  }

  private func intactObject(
    _ digest: ContentDigest,
    in folder: ObjectFolder
  ) throws(Failure) -> Int64? {
    guard let file = try folder.open(digest) else { return nil }
    let found = try file.objectFile()
    if examined[digest] != found, try !examine(file, digest) { return nil }
    return found.status.size
  }

  // MARK: Connection

  /// The open index; opened again if it was given up meanwhile.
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

  /// From now on a copy in memory is read, which may get rows that no file gets.
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

  /// Whether the index is the file that was opened, and not one that others have put in its place.
  private func isOurFile() throws(Failure) -> Bool {
    guard let indexFile, let current = try index.status() else { return true }
    return current.isSameFile(as: indexFile)
  }

  /// Whether the open index is still the file at its path; false after the cache has been removed.
  package var isInPlace: Bool {
    guard let indexFile else { return true }
    return IndexStamp.status("\(path)/\(CacheLayout.indexName)")?.isSameFile(as: indexFile) ?? false
  }

  /// Ends the use of a store that was opened for writing, beside whatever run, and removes unfinished
  /// bodies that killed processes left.
  ///
  /// Waits for readers to leave; if they do not, the log stays for the next writer.
  package func close(patience: Duration = .seconds(1)) throws(Failure) {
    guard case .writing(let database) = connection else {
      connection = nil
      return
    }
    let writing = try requireWriting()
    if !database.isDamaged {
      try writing.partial.removeStale()
      try tidyUpParts(writing)
      try writing.claims.inTurn { () throws(Failure) in try recordUpkeep(database) }
    }
    connection = nil
    guard !database.isDamaged else {
      database.close()
      return try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        if try isOurFile() { try index.setAside(&diagnostics, because: nil) }
      }
    }
    try index.close(database, patience: patience)
  }

  /// Parts grow old by a clock that servers agree with, and never those of what a person has paused.
  private func tidyUpParts(_ writing: Writing) throws(Failure) {
    let now = try expiryTime()
    try writing.partial.parts.tidyUp(now: now) { key in
      ((try? record(url: key)) ?? nil)?.state == .paused
    }
  }

  /// Asks the index, and what is left of it should it turn out damaged.
  func answering<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    do throws(Failure) {
      return try body()
    } catch {
      try recover(from: error)
      return try body()
    }
  }

  /// Puts the last good copy in the place of a damaged index, unless that would lose rows of ours.
  private func recover(from fault: Failure) throws(Failure) {
    guard fault.code == .storeDamaged, !hasCommitted else { throw fault }
    switch (access, connection) {
    case (.reading, .reading(let reading)) where !reading.isCopy:
      connection = nil
      connection = .reading(try index.openCopy(because: fault, &diagnostics))
    case (.writing(let writing), .writing(let database)):
      kept = KeptStatements()
      database.close()
      connection = nil
      let rebuilt = try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        // Another process may have met the damage first.
        guard try isOurFile() else { return try index.openForWriting(&diagnostics) }
        return try index.rebuild(because: fault, &diagnostics)
      }
      try connect(rebuilt)
      times = try recordedTimes(rebuilt)
    case (.reading, _), (.writing, _):
      throw fault
    }
  }

  /// Keeps other processes from publishing or removing objects.
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
