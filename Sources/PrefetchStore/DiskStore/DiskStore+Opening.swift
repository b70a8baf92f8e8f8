internal import Glibc
package import PrefetchCore

extension DiskStore {
  /// Returns why only a newer version of the program can use the cache; nil when this version can.
  package static func objectionToNewer(cache path: String) -> Failure? {
    let folder = (try? Folder(at: path)) ?? nil
    return folder.flatMap { CacheLayout.index(in: $0).objectionToNewer }
  }

  /// Opens a cache for changes and makes it where it is missing.
  ///
  /// Nothing younger than `clockStart`, the start of the run, is tidied away. A damaged index is
  /// replaced by its last good copy, and ``diagnostics`` says so. Without `lower`, the store uses
  /// the lower caches of the last run.
  package static func openForWriting(
    cache path: String,
    below lower: LowerCaches? = nil,
    clockStart: Instant,
    durability: Durability = .batch,
    descriptors: Int? = nil
  ) throws(Failure) -> DiskStore {
    while true {
      do throws(Failure) {
        return try opened(path, lower, clockStart, durability, descriptors)
      } catch {
        // Partial bodies of an earlier run are evicted to make room.
        guard error.code == .diskFull, let root = try Folder(at: path),
          try CacheLayout.existingParts(in: root)?.evictLargest() == true
        else { throw error }
      }
    }
  }

  package func setIndexMode(isShared: Bool) throws(Failure) {
    try index.setMode(isShared ? 0o644 : 0o600)
  }

  private static func opened(
    _ path: String,
    _ lower: LowerCaches?,
    _ clockStart: Instant,
    _ durability: Durability,
    _ descriptors: Int?
  ) throws(Failure) -> DiskStore {
    let layout = try CacheLayout.making(path)
    guard
      let shared = try KernelLock.acquire(.shared, on: layout.root.openLock(CacheLayout.lockName))
    else { throw Failure(.disk, "an earlier version is using `\(path)`") }
    var reports: [Diagnostic] = []
    let database = try withObjectsLocked(layout) { () throws(Failure) in
      var index = layout.index
      let hasBackup = try index.hasBackup
      index.isFirst = try CacheLayout.existingObjects(in: layout.root) == nil
      if hasBackup { index.isFirst = false }
      return try index.openForWriting(&reports)
    }
    let objects = try layout.objectFolder()
    let partial = try layout.partialFolder()
    let descriptors = descriptors ?? DescriptorLimit.current
    let writing = Writing(
      layout: layout,
      partial: partial,
      publisher: ObjectPublisher(
        objects: objects,
        partial: partial,
        durability: durability,
        descriptors: descriptors
      ),
      claims: try Claims(in: layout.root),
      shared: shared
    )
    let store = DiskStore(
      path: path,
      root: layout.root,
      index: layout.index,
      objects: objects,
      clockStart: clockStart,
      access: .writing(writing),
      staging: .onDisk(partial, objects: objects, descriptors: descriptors)
    )
    try store.connect(database)
    store.writtenVersion = try store.dataVersion()
    store.diagnostics = reports
    store.times = try store.withBackup { () throws(Failure) in
      try store.recordedTimes(store.database())
    }
    try store.lookBelow(lower)
    try? Leases(in: layout.root)?.endOver(at: clockStart)
    return store
  }

  /// Opens a cache without changing anything; returns nil without a cache here or below.
  package static func openForReading(
    cache path: String,
    below lower: LowerCaches? = nil,
    clockStart: Instant
  ) throws(Failure) -> DiskStore? {
    guard let store = try existing(path, clockStart) else {
      guard let lower, !lower.paths.isEmpty else { return nil }
      let store = try absent(path, clockStart)
      try store.lookBelow(lower)
      return store
    }
    store.times = try store.withBackup { () throws(Failure) in
      try store.recordedTimes(store.database())
    }
    try store.lookBelow(lower)
    return store
  }

  /// Opens a lower cache read-only; no process of this program ever writes to one.
  static func openLower(_ path: String, clockStart: Instant) throws(Failure) -> DiskStore? {
    try existing(path, clockStart, isLower: true)
  }

  /// Whether the folder holds a cache, or the objects of one without an index.
  package static func exists(at path: String) throws(Failure) -> Bool {
    try existing(path, Instant(milliseconds: 0)) != nil
  }

  /// Whether runs have filled the cache, which then has a state; an export, whose index every
  /// user may read, has none.
  package func isOfRuns(isShared: Bool) throws(Failure) -> Bool {
    guard let status = try index.status(), isShared || status.mode & 0o077 == 0 else {
      return false
    }
    return try !segments().isEmpty
  }

  private static func existing(
    _ path: String,
    _ clockStart: Instant,
    isLower: Bool = false
  ) throws(Failure) -> DiskStore? {
    guard let root = try Folder(at: path) else { return nil }
    let objects = try CacheLayout.existingObjects(in: root)
    var index = CacheLayout.index(in: root)
    index.isLower = isLower
    if objects == nil, try index.status() == nil, try !index.hasBackup { return nil }
    return DiskStore(
      path: path,
      root: root,
      index: index,
      objects: objects,
      clockStart: clockStart,
      access: .reading,
      staging: .inMemory()
    )
  }

  /// Opens a cache that does not exist but has lower caches; creates nothing.
  private static func absent(_ path: String, _ clockStart: Instant) throws(Failure) -> DiskStore {
    var parent = path[...]
    var root = try Folder(at: path)
    while root == nil, let slash = parent.lastIndex(of: "/") {
      parent = parent[..<slash]
      root = try Folder(at: parent.isEmpty ? "/" : String(parent))
    }
    guard let root else { throw .system(ENOENT, "open", path) }
    let index = CacheLayout.index(in: root)
    let store = DiskStore(
      path: path,
      root: root,
      index: index,
      objects: nil,
      clockStart: clockStart,
      access: .reading,
      staging: .inMemory()
    )
    store.read(try index.emptyReading())
    return store
  }
}
