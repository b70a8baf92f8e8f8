package import PrefetchCore

/// The index records each body's file; another file under the same name is hashed before use.
extension DiskStore {
  package func isSpoilt(_ digest: ContentDigest) throws(Failure) -> Bool {
    guard let folder = try objects?.folder(of: digest.prefix),
      try folder.status(of: digest.hexadecimal) != nil
    else { return false }
    return try !isSound(digest, in: folder)
  }

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

  func examine(_ file: OpenFile, _ digest: ContentDigest) throws(Failure) -> Bool {
    let found = try file.objectFile()
    guard try ObjectFolder.digest(of: file, isCancelled: isCancelled) == digest else {
      return false
    }
    examined[digest] = found
    return true
  }

  /// Records the examined files for later runs; call within `Claims.withWriterLock`.
  func recordExamined(_ database: Database) throws(Failure) {
    guard !examined.isEmpty else { return }
    let known = try knownFiles()
    try database.transaction { () throws(Failure) in
      for (digest, file) in examined { try known.record(file, of: digest) }
    }
  }

  private func knownFiles() throws(Failure) -> KnownFiles {
    if let files = kept.files { return files }
    let files = try KnownFiles(database())
    kept.files = files
    return files
  }
}

final class KnownFiles {
  private let find: Statement
  private let updateItems: Statement
  private let updateItemFiles: Statement

  init(_ database: Database) {
    let ofItems = ObjectReferences.namesDigest
    find = database.prepare(
      "SELECT file FROM items WHERE \(ofItems) UNION SELECT file FROM item_files WHERE digest=?1"
    )
    updateItems = database.prepare("UPDATE items SET file=?3 WHERE \(ofItems)")
    updateItemFiles = database.prepare("UPDATE item_files SET file=?2 WHERE digest=?1")
  }

  func contains(_ file: ObjectFile, of digest: ContentDigest) throws(Failure) -> Bool {
    let marks = try find.all(digest, digest.mark) { row in row.optionalNumber(0) }
    return marks.contains(where: file.has)
  }

  func record(_ file: ObjectFile, of digest: ContentDigest) throws(Failure) {
    try updateItems.run(digest, digest.mark, file.mark)
    try updateItemFiles.run(digest, file.mark)
  }
}
