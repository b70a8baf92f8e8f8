internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// `CACHE/partial`: folder in which bodies grow.
///
/// Temporary names are in a locked folder of each process; an unlocked one may be removed.
final class PartialFolder: Sendable {
  let folder: Folder
  let parts: KeptParts
  let cachePath: String
  private let session = Mutex<Session?>(nil)
  private let knowsUnnamedFiles = Atomic(true)

  private struct Session {
    var folder: Folder
    var lock: OpenFile
    var name: String
  }

  init(_ folder: Folder, ofCache cachePath: String) {
    self.folder = folder
    self.cachePath = cachePath
    parts = KeptParts(folder: folder)
  }

  deinit {
    let name = session.withLock { $0?.name }
    guard let name else { return }
    try? folder.removeAll(name)
  }

  /// Makes a file, unnamed where possible, with the mode of an object, since it becomes one.
  func open() throws(Failure) -> (OpenFile, name: String?) {
    if knowsUnnamedFiles.load(ordering: .relaxed) {
      let number = folder.openNumber(".", O_RDWR | Self.unnamed, mode: 0o444)
      if number >= 0 {
        return (OpenFile(owning: number, path: cachePath), nil)
      }
      guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(-number) else {
        throw .system(-number, "create a file in", cachePath)
      }
      knowsUnnamedFiles.store(false, ordering: .relaxed)
    }
    let name = RandomName.make("body-")
    return (try names().open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o444), name)
  }

  func names() throws(Failure) -> Folder {
    try session.withLock { session throws(Failure) in
      if let session { return session.folder }
      let name = RandomName.make(Self.prefix)
      let (own, _) = try folder.makingFolder(name, mode: 0o700)
      let file = try own.open(".", O_RDONLY | O_DIRECTORY)
      flock(file.number, LOCK_EX | LOCK_NB)
      session = Session(folder: own, lock: file, name: name)
      return own
    }
  }

  func removeStale() throws(Failure) {
    for name in try folder.names() where name.hasPrefix(Self.prefix) {
      guard let other = try folder.folder(name) else { continue }
      guard let lock = try KernelLock.acquire(.exclusive, on: other) else { continue }
      try withExtendedLifetime(lock) { () throws(Failure) in
        try folder.removeAll(name)
      }
    }
  }

  private static let prefix = "session-"
  /// `O_TMPFILE`, a macro too complex for Swift's importer.
  private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
}
