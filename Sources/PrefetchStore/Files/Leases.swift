internal import Glibc
package import PrefetchCore

/// Leases in `CACHE/locks/leases.d`: hard links to bodies of streams that players may still need,
/// until ten minutes after the server's last response.
package struct Leases: Sendable {
  /// A stream as it was when it was leased.
  package struct Lease: Sendable {
    package let files: [BundleFile]
    package let shelf: BodyShelf
  }

  package static let term = Duration.seconds(600)
  package static let grain = Duration.seconds(10)
  private static let folderName = "leases.d"
  /// File that lists the stream's files; its modification time is the last use.
  private static let tableName = "files"
  private static let temporaryPrefix = "new-"

  private let folder: Folder

  package init?(cache path: String) throws(Failure) {
    guard let root = try Folder(at: path), let leases = try Self(in: root) else { return nil }
    self = leases
  }

  init?(in root: Folder) throws(Failure) {
    guard let locks = try root.folder(CacheLayout.locksName),
      let folder = try locks.folder(Self.folderName)
    else { return nil }
    self.folder = folder
  }

  package init(making path: String) throws(Failure) {
    guard let root = try Folder(at: path) else { throw .system(ENOENT, "open", path) }
    let locks = try root.makingFolder(CacheLayout.locksName).0
    folder = try locks.makingFolder(Self.folderName, mode: 0o700).0
  }

  // MARK: One

  package func acquire(
    _ name: String,
    _ files: [BundleFile],
    on shelf: BodyShelf,
    at now: Instant
  ) throws(Failure) {
    if try extend(name, at: now) { return }
    let draft = RandomName.make(Self.temporaryPrefix)
    let home = try folder.makingFolder(draft).0
    do throws(Failure) {
      for digest in Set(files.map(\.digest)) { try shelf.link(digest, into: home) }
      let table = try home.open(Self.tableName, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      try table.write(unsafe BundleCoding.encode(files).span.bytes)
      table.setModified(now.nanoseconds)
      try table.close()
      // An ended lease may still have the name.
      try folder.removeAll(name)
      try folder.rename(draft, to: name, in: folder)
    } catch {
      try? folder.removeAll(draft)
      // Another process may have made the lease first.
      guard try extend(name, at: now) else { throw error }
    }
  }

  private func extend(_ name: String, at now: Instant) throws(Failure) -> Bool {
    guard let table = try table(of: name), try isAlive(table, at: now) else { return false }
    table.setModified(now.nanoseconds)
    return true
  }

  /// Returns a lease and extends it; bodies may also be in `cache` and its lower caches.
  package func find(
    _ name: String,
    in cache: BodyPaths,
    _ known: VerifiedFiles,
    at now: Instant
  ) -> Lease? {
    guard (try? extend(name, at: now)) == true, let files = files(of: name),
      let home = (try? folder.folder(name)) ?? nil
    else { return nil }
    let others = ([cache.cache] + cache.lower).compactMap { path in
      ((try? Folder(at: path)) ?? nil).flatMap { (try? CacheLayout.existingObjects(in: $0)) ?? nil }
    }
    let layers = ObjectLayers(own: ObjectFolder(root: home), lower: others)
    return Lease(files: files, shelf: BodyShelf(layers, known))
  }

  private func table(of name: String) throws(Failure) -> OpenFile? {
    try folder.folder(name)?.openExisting(Self.tableName, O_RDONLY)
  }

  private func isAlive(_ table: OpenFile, at now: Instant) throws(Failure) -> Bool {
    let age = now.nanoseconds - (try table.status().modified)
    // The absolute value: a clock that went back must not make a lease last for ever.
    return abs(age) <= (Self.term + Self.grain).components.seconds * 1_000_000_000
  }

  private func files(of name: String) -> [BundleFile]? {
    guard let table = (try? table(of: name)) ?? nil, let status = try? table.status(),
      status.size < 1 << 28
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.size))
    guard (try? table.read(into: &bytes, at: 0)) == bytes.count else { return nil }
    return unsafe BundleCoding.decode(bytes.span.bytes)
  }

  // MARK: Ends

  package func endOver(at now: Instant) throws(Failure) {
    for name in try folder.names() where name != "." && name != ".." {
      if name.hasPrefix(Self.temporaryPrefix) {
        // A young temporary folder belongs to a process that is making a lease.
        guard let status = try folder.status(of: name),
          FileAge.nanoseconds(since: status.changed) > 60_000_000_000
        else { continue }
      } else if let table = try table(of: name), try isAlive(table, at: now) {
        continue
      }
      try folder.removeAll(name)
    }
  }

  func end(downTo room: Int64, excluding own: ObjectFolder?) throws(Failure) {
    var leases = try all().sorted { $0.usedAt > $1.usedAt }
    while let last = leases.last, Self.bodies(of: leases, excluding: own).bytes > max(0, room) {
      try folder.removeAll(last.name)
      leases.removeLast()
    }
  }

  // MARK: What they hold

  private struct Kept {
    var name: String
    var usedAt: Int64
    var files: [BundleFile]
    var home: ObjectFolder
  }

  private func all() throws(Failure) -> [Kept] {
    var leases: [Kept] = []
    for name in try folder.names() where !name.hasPrefix(Self.temporaryPrefix) {
      guard let table = try table(of: name), let files = files(of: name),
        let home = try folder.folder(name)
      else { continue }
      let usedAt = try table.status().modified
      leases.append(Kept(name: name, usedAt: usedAt, files: files, home: ObjectFolder(root: home)))
    }
    return leases
  }

  func bodies(excluding own: ObjectFolder?) throws(Failure) -> (count: Int, bytes: Int64) {
    Self.bodies(of: try all(), excluding: own)
  }

  private static func bodies(
    of leases: [Kept],
    excluding own: ObjectFolder?
  ) -> (count: Int, bytes: Int64) {
    var sizes: [ContentDigest: Int64] = [:]
    for lease in leases {
      for file in lease.files
      where own?.status(of: file.digest) == nil && lease.home.status(of: file.digest) != nil {
        sizes[file.digest] = file.size
      }
    }
    return (sizes.count, sizes.values.reduce(0) { $0.addingSaturated($1) })
  }
}

extension Instant {
  fileprivate var nanoseconds: Int64 { milliseconds &* 1_000_000 }
}
