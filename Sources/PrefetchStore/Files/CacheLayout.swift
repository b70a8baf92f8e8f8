internal import Glibc
internal import PrefetchCore

/// The folders of a cache, open, and how they come to be.
struct CacheLayout {
  let root: Folder
  /// Locked by a process that publishes or removes objects, while that and its commit last.
  let objects: Folder

  static let indexName = "index.sqlite"
  static let backupName = "index.backup.sqlite"
  static let lockName = "lock"
  static let locksName = "locks"
  static let claimsName = "claims"
  static let usersName = "claims.d"
  private static let objectsName = "objects"
  private static let digestsName = "sha256"
  static let partialName = "partial"
  private static let tagName = "CACHEDIR.TAG"

  /// Makes what is missing, except what ``objectFolder()`` makes.
  static func making(_ path: String) throws(Failure) -> CacheLayout {
    let root = try Folder.making(path, mode: 0o700)
    try makeTag(in: root)
    let (objects, _) = try root.makingFolder(objectsName)
    return CacheLayout(root: root, objects: objects)
  }

  var index: DatabaseFile {
    Self.index(in: root)
  }

  static func index(in root: Folder) -> DatabaseFile {
    DatabaseFile(folder: root, name: indexName, schema: .index, backupName: backupName)
  }

  /// Made after the index, so that a cache with objects and no index is known to have lost it.
  func objectFolder() throws(Failure) -> ObjectFolder {
    ObjectFolder(root: try objects.makingFolder(Self.digestsName).0)
  }

  func partialFolder() throws(Failure) -> PartialFolder {
    PartialFolder(try root.makingFolder(Self.partialName).0, ofCache: root.path)
  }

  /// What is there, for reading; nil when there are no objects.
  static func existingObjects(in root: Folder) throws(Failure) -> ObjectFolder? {
    try root.folder(objectsName)?.folder(digestsName).map(ObjectFolder.init(root:))
  }

  static func existingParts(in root: Folder) throws(Failure) -> KeptParts? {
    try root.folder(partialName).map(KeptParts.init(folder:))
  }

  /// Whether a cache makes files or folders of this name at its root.
  static func isOfCache(_ name: String) -> Bool {
    [tagName, tagName + ".new", lockName, locksName, objectsName, partialName].contains(name)
      || name.hasPrefix(indexName) || name.hasPrefix(backupName)
  }

  /// Lets backup programs leave the cache out.
  private static func makeTag(in root: Folder) throws(Failure) {
    guard try root.status(of: tagName) == nil else { return }
    // Always the same name, so that what a kill leaves is used up by the next one.
    let temporary = tagName + ".new"
    let file = try root.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    let text =
      """
      Signature: 8a477f597d28d172789f06886806bc55
      # This file is a cache directory tag created by prefetch.
      # For information about cache directory tags, see https://bford.info/cachedir/

      """
    let bytes = Array(text.utf8)
    try file.write(unsafe bytes.span.bytes)
    try file.close()
    do throws(Failure) {
      try root.rename(temporary, to: tagName, in: root)
    } catch {
      // Another process may have been faster with the same text.
      guard try root.status(of: tagName) != nil else { throw error }
    }
  }
}
