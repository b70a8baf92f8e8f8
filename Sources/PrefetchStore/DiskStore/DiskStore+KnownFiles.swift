package import PrefetchCore

/// The index knows of each body which file it was put into; another file under its name is hashed
/// before it counts.
extension DiskStore {
  /// Whether the file of a stored body has other bytes than its name says; false for one that is not
  /// there, and for one that lies below, where it is believed.
  package func isSpoilt(_ digest: ContentDigest) throws(Failure) -> Bool {
    guard let folder = try objects?.folder(of: digest.prefix),
      try folder.status(of: digest.hexadecimal) != nil
    else { return false }
    return try !isSound(digest, in: folder)
  }

  /// Whether a stored body is there and is what its name says: it is the file that was committed, or
  /// its bytes are the right ones.
  func isSound(
    _ digest: ContentDigest,
    size: Int64? = nil,
    in folder: Folder
  ) throws(Failure) -> Bool {
    let name = digest.hexadecimal
    guard let found = try folder.objectFile(name), found.status.kind == .file,
      size.map({ $0 == found.status.size }) ?? true
    else { return false }
    if examined[digest] == found { return true }
    if try knownFiles().contains(found, of: digest) { return true }
    guard let file = try ObjectFolder.open(name, in: folder) else { return false }
    return try examine(file, digest)
  }

  /// Hashes a body, and notes which file had the right bytes.
  func examine(_ file: OpenFile, _ digest: ContentDigest) throws(Failure) -> Bool {
    let found = try file.objectFile()
    guard try ObjectFolder.digest(of: file, isCancelled: isCancelled) == digest else {
      return false
    }
    examined[digest] = found
    return true
  }

  /// To be called in turn, for runs to come.
  func recordExamined(_ database: Database) throws(Failure) {
    guard !examined.isEmpty else { return }
    let known = try knownFiles()
    try database.transaction { () throws(Failure) in
      for (digest, file) in examined { try known.note(file, of: digest) }
    }
  }

  private func knownFiles() throws(Failure) -> KnownFiles {
    if let files = kept.files { return files }
    let files = try KnownFiles(database())
    kept.files = files
    return files
  }
}

/// By which files the rows know their bodies.
final class KnownFiles {
  private let find: Statement
  private let updateItems: Statement
  private let updateParts: Statement

  init(_ database: Database) throws(Failure) {
    let ofItems = ObjectReferences.namesDigest
    find = try database.prepare(
      "SELECT file FROM items WHERE \(ofItems) UNION SELECT file FROM item_files WHERE digest=?1"
    )
    updateItems = try database.prepare("UPDATE items SET file=?3 WHERE \(ofItems)")
    updateParts = try database.prepare("UPDATE item_files SET file=?2 WHERE digest=?1")
  }

  /// Whether it is the file that some row knows.
  func contains(_ file: ObjectFile, of digest: ContentDigest) throws(Failure) -> Bool {
    let marks = try find.all(digest, digest.mark) { row in row.optionalNumber(0) }
    return marks.contains(where: file.has)
  }

  func note(_ file: ObjectFile, of digest: ContentDigest) throws(Failure) {
    try updateItems.run(digest, digest.mark, file.mark)
    try updateParts.run(digest, file.mark)
  }
}
