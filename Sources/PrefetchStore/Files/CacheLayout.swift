internal import Glibc
internal import PrefetchCore

struct CacheLayout {
  let root: Folder
  /// Folder that a process locks while it publishes or removes objects and commits.
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

  /// Makes the folder of objects, after the index: objects without an index mean a lost index.
  func objectFolder() throws(Failure) -> ObjectFolder {
    ObjectFolder(root: try objects.makingFolder(Self.digestsName).0)
  }

  func partialFolder() throws(Failure) -> PartialFolder {
    PartialFolder(try root.makingFolder(Self.partialName).0, ofCache: root.path)
  }

  static func existingObjects(in root: Folder) throws(Failure) -> ObjectFolder? {
    try root.folder(objectsName)?.folder(digestsName).map(ObjectFolder.init(root:))
  }

  static func existingParts(in root: Folder) throws(Failure) -> KeptParts? {
    try root.folder(partialName).map(KeptParts.init(folder:))
  }

  static func isOfCache(_ name: String) -> Bool {
    [tagName, tagName + ".new", lockName, locksName, objectsName, partialName].contains(name)
      || name.hasPrefix(indexName) || name.hasPrefix(backupName)
  }

  /// Marks the cache for backup programs, which then skip it.
  private static func makeTag(in root: Folder) throws(Failure) {
    guard try root.status(of: tagName) == nil else { return }
    // A fixed name: the next process overwrites what a killed process left.
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
      // Another process may have made the tag first.
      guard try root.status(of: tagName) != nil else { throw error }
    }
  }
}
