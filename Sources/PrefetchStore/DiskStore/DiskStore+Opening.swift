internal import Glibc
package import PrefetchCore

/// How a cache comes to be used.
extension DiskStore {
  /// Why only a newer version of the program can use the cache; nil where that is not so.
  package static func objectionToNewer(cache path: String) -> Failure? {
    let folder = (try? Folder(at: path)) ?? nil
    return folder.flatMap { CacheLayout.index(in: $0).objectionToNewer }
  }

  /// Opens a cache for changes and makes it where it is missing.
  ///
  /// `clockStart` is when the run began: what is younger is never tidied away. A damaged index is
  /// set aside and its last good copy takes its place, which ``diagnostics`` then tells; the objects
  /// stay, and those that the copy does not name are found again by their digests. `descriptors` are
  /// those that the process has, if it is not the kernel that shall tell. Without `lower` the caches
  /// below are those that the last run had.
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
        // Parts of an earlier run give way.
        guard error.code == .diskFull, let root = try Folder(at: path),
          try CacheLayout.existingParts(in: root)?.giveWay() == true
        else { throw error }
      }
    }
  }

  /// Lets other users read the index, or keeps it for its own.
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
    guard let shared = try KernelLock.take(.shared, on: layout.root.openLock(CacheLayout.lockName))
    else { throw Failure(.disk, "an earlier version is using `\(path)`") }
    var reports: [Diagnostic] = []
    let database = try withObjectsLocked(layout) { () throws(Failure) in
      try layout.index.openForWriting(&reports)
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
      staging: .onDisk(partial, besides: objects, descriptors: descriptors)
    )
    try store.connect(database)
    store.writtenVersion = try store.dataVersion()
    store.diagnostics = reports
    store.times = try store.answering { () throws(Failure) in
      try store.recordedTimes(store.database())
    }
    try store.lookBelow(lower)
    try? Leases(in: layout.root)?.endOver(at: clockStart)
    return store
  }

  /// Opens a cache without creating or changing anything; nil when there is none yet, and none below.
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
    store.times = try store.answering { () throws(Failure) in
      try store.recordedTimes(store.database())
    }
    try store.lookBelow(lower)
    return store
  }

  /// A cache that is read as it is, and that no process of ours ever writes.
  static func openLower(_ path: String, clockStart: Instant) throws(Failure) -> DiskStore? {
    try existing(path, clockStart, isLower: true)
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

  /// One that is not made by being looked at, and under which there are others.
  private static func absent(_ path: String, _ clockStart: Instant) throws(Failure) -> DiskStore {
    var place = path[...]
    var root = try Folder(at: path)
    while root == nil, let slash = place.lastIndex(of: "/") {
      place = place[..<slash]
      root = try Folder(at: place.isEmpty ? "/" : String(place))
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
