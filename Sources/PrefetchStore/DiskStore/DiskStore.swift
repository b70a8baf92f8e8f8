internal import Glibc
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
  /// Of all bodies, once that was counted.
  var usedBytes: Int64?

  let root: Folder
  let index: DatabaseFile
  /// Nil only in a reading store whose cache holds no objects.
  let objects: ObjectFolder?
  let clockStart: Instant
  let access: Access
  var times = FolderTimes()
  private var connection: Connection? {
    didSet {
      kept = KeptStatements()
      usedBytes = nil
    }
  }
  /// Statements of the present connection that are used again and again.
  var kept = KeptStatements()
  /// The index turned out damaged on the way; it is set aside at the end.
  private var isDamaged = false

  enum Access {
    case reading
    case writing(Writing)
  }

  /// What only a writer has.
  struct Writing {
    let layout: CacheLayout
    let partial: PartialFolder
    let publisher: ObjectPublisher
  }

  private enum Connection {
    case reading(DatabaseReading)
    case writing(Database)
  }

  /// Opens a cache for changes and makes it where it is missing.
  ///
  /// `clockStart` is when the run began: what is younger is never tidied away. A damaged index is
  /// set aside and begun anew, which ``diagnostics`` then tells; the objects stay.
  package static func openForWriting(
    cache path: String,
    clockStart: Instant,
    durability: Durability = .batch
  ) throws(Failure) -> DiskStore {
    let layout = try CacheLayout.making(path)
    var reports: [Diagnostic] = []
    let database = try withObjectsLocked(layout) { () throws(Failure) in
      try layout.index.openForWriting(&reports)
    }
    let objects = try layout.objectFolder()
    let partial = try layout.partialFolder()
    let writing = Writing(
      layout: layout,
      partial: partial,
      publisher: ObjectPublisher(objects: objects, partial: partial, durability: durability)
    )
    let store = DiskStore(
      path: path,
      root: layout.root,
      index: layout.index,
      objects: objects,
      clockStart: clockStart,
      access: .writing(writing),
      staging: .onDisk(partial)
    )
    store.connection = .writing(database)
    store.diagnostics = reports
    store.times = try store.recordedTimes(database)
    return store
  }

  /// Opens a cache without creating or changing anything; nil when there is none yet.
  package static func openForReading(
    cache path: String,
    clockStart: Instant
  ) throws(Failure) -> DiskStore? {
    guard let root = try Folder(at: path) else { return nil }
    let objects = try CacheLayout.existingObjects(in: root)
    let index = DatabaseFile(folder: root, name: CacheLayout.indexName, schema: .index)
    guard try index.status() != nil else {
      guard objects != nil else { return nil }
      throw Failure(
        .storeDamaged,
        "`\(index.path)` is missing; `prefetch run` makes it anew"
      )
    }
    let store = DiskStore(
      path: path,
      root: root,
      index: index,
      objects: objects,
      clockStart: clockStart,
      access: .reading,
      staging: .inMemory()
    )
    store.times = try store.recordedTimes(store.database())
    return store
  }

  private init(
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

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    try staging.beginBody(plan)
  }

  package func partials() throws(Failure) -> [String: PartialBody] {
    [:]
  }

  package func forgetPartial(_ key: String) {}

  package func withBytes<Value>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    try staging.withBytes(of: body, read)
  }

  package func discard(_ body: StagedBody) {
    staging.discard(body)
  }

  // MARK: Objects

  package func withObject<Value>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    guard let file = try objects?.open(digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    return try FileBytes.withBytes(of: file, read)
  }

  /// Where the body is or would be.
  package func objectPath(_ digest: ContentDigest) -> String {
    Self.objectPath(digest, cache: path)
  }

  /// The same without an open store: the layout is a promise to other programs.
  package static func objectPath(_ digest: ContentDigest, cache: String) -> String {
    "\(cache)/objects/sha256/\(ObjectFolder.name(of: digest.prefix))/\(digest.hexadecimal)"
  }

  /// The size of an object that the index need not name, if it is there and its bytes are right.
  ///
  /// After the index was lost, this is how a body is found again instead of fetched again.
  package func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    guard let objects else { return nil }
    do throws(Failure) {
      guard let file = try objects.open(digest) else { return nil }
      guard try ObjectFolder.digest(of: file) == digest else { return nil }
      return try file.status().size
    } catch {
      // An object that cannot be read is fetched again.
      return nil
    }
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
      let reading = try index.openForReading()
      connection = .reading(reading)
      return reading.database
    case (nil, .writing(let writing)):
      let database = try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
        try index.openForWriting(&diagnostics)
      }
      connection = .writing(database)
      return database
    }
  }

  /// Lets a writer tidy up between two uses of a store that reads for long, such as a server's.
  ///
  /// The next question sees what was committed meanwhile.
  package func pauseReading() {
    guard case .reading = access else { return }
    connection = nil
  }

  /// Ends the use of a store that was opened for writing without the run lock.
  ///
  /// Waits a second for readers to leave; if they do not, the log stays for the next writer.
  package func close() throws(Failure) {
    guard case .writing(let database) = connection else {
      connection = nil
      return
    }
    connection = nil
    if isDamaged {
      database.close()
      isDamaged = false
      return try index.setAside(&diagnostics, because: nil)
    }
    try recordTimes(database)
    try index.close(database, patience: .seconds(1))
  }

  /// Answers a fault of the index in the middle of a run: with an empty one, while that is safe.
  func beginAnew(because fault: Failure) throws(Failure) {
    guard case .writing(let writing) = access, fault.code == .storeDamaged else { throw fault }
    if case .writing(let database) = connection {
      database.close()
    }
    connection = nil
    times = FolderTimes()
    try Self.withObjectsLocked(writing.layout) { () throws(Failure) in
      try index.setAside(&diagnostics, because: fault)
    }
  }

  func noteDamage(_ fault: Failure) {
    guard fault.code == .storeDamaged else { return }
    isDamaged = true
  }

  /// Keeps other processes from publishing or removing objects.
  static func withObjectsLocked<Value>(
    _ layout: CacheLayout,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let lock = try KernelLock.take(.exclusive, on: layout.objects, patience: .seconds(60))
    guard let lock else {
      throw Failure(
        .disk,
        "`\(layout.objects.path)` is busy: another process has been writing for too long"
      )
    }
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }
}
