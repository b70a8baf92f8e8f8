package import PrefetchCore

package struct VerificationReport: Hashable, Sendable {
  /// Number of objects that the index names, including damaged ones.
  package var checked = 0
  package var bytes: Int64 = 0
  package var bad: [DamagedObject] = []
  package var goodCount = 0
  /// Number of objects that the index does not name; the next run removes them.
  package var orphans = 0

  package var damaged: Set<ContentDigest> {
    Set(bad.filter { $0.problem != .unreadable }.map(\.digest))
  }

  package static let empty = VerificationReport()
}

package struct DamagedObject: Hashable, Sendable {
  package enum Problem: String, Hashable, Sendable {
    case missing
    case size
    case digest
    /// The object could not be opened or read: this says nothing about its bytes.
    case unreadable
    case notFile = "not_a_file"
  }

  package var digest: ContentDigest
  package var path: String
  package var urls: [String]
  package var problem: Problem
  package var reason: String?
  /// Whether the medium failed twice; other faults are those of the process or machine.
  package var isMediumError = false
}

extension DiskStore {
  /// Hashes every object that the index names; changes nothing.
  package func verify(isCancelled: () -> Bool = { false }) throws(Failure) -> VerificationReport {
    var report = VerificationReport()
    let named = try namedObjects()
    for object in named {
      guard !isCancelled() else { throw Failure(.cancelled, "stopped while verifying") }
      report.checked += 1
      if let damage = try damage(of: object, &report.bytes, isCancelled) {
        report.bad.append(damage)
      } else {
        report.goodCount += 1
      }
    }
    if !report.bad.isEmpty { try dropRemoved(from: &report) }
    let digests = Set(named.lazy.map(\.digest))
    for prefix in UInt8.min...UInt8.max {
      report.orphans += try objects?.digests(in: prefix).subtracting(digests).count ?? 0
    }
    return report
  }

  /// Drops findings about objects that no row names now; an open reader would still see old rows.
  private func dropRemoved(from report: inout VerificationReport) throws(Failure) {
    var current: DiskStore? = self
    if case .reading = access {
      current = try Self.openForReading(cache: path, clockStart: clockStart)
    }
    guard let now = current else { return }
    let named = Dictionary(
      try now.namedObjects().map { ($0.digest, $0) }
    ) { first, _ in first }
    var bad: [DamagedObject] = []
    var bytes: Int64 = 0
    for damage in report.bad {
      guard let object = named[damage.digest],
        let found = try now.damage(of: object, &bytes, { false })
      else {
        report.checked -= 1
        continue
      }
      bad.append(found)
    }
    report.bad = bad
  }

  private struct NamedObject {
    var digest: ContentDigest
    /// Bytes of the object; nil for manifests, whose size no row holds.
    var size: Int64?
    var urls: [String]
  }

  private func namedObjects() throws(Failure) -> [NamedObject] {
    try withBackup { () throws(Failure) in
      try IndexRows.check(database())
      let rows = try database().prepare(
        """
        SELECT substr(facts, 1, 32), substr(facts, 33, 8), url FROM items \
        WHERE mark IS NOT NULL UNION ALL \
        SELECT manifest, NULL, coalesce(manifest_url, name) FROM segments \
        WHERE manifest IS NOT NULL UNION ALL \
        SELECT digest, NULL, url FROM item_files JOIN items USING (item) UNION ALL \
        SELECT digest, NULL, url FROM segment_documents ORDER BY 1, 2 DESC, 3
        """
      )
      var objects: [NamedObject] = []
      while try rows.step() {
        let digest = try rows.digest(0, of: rows.text(2))
        if objects.last?.digest == digest {
          objects[objects.count - 1].urls.append(rows.text(2))
        } else {
          objects.append(
            NamedObject(digest: digest, size: Self.size(rows, 1), urls: [rows.text(2)])
          )
        }
      }
      return objects
    }
  }

  private static func size(_ row: borrowing Statement, _ column: Int32) -> Int64? {
    unsafe row.withBytes(column) { bytes in
      guard bytes.count == 8 else { return nil }
      return unsafe bytes.loadUnaligned(as: Int64.self).littleEndian
    }
  }

  private func damage(
    of object: NamedObject,
    _ bytes: inout Int64,
    _ isCancelled: () -> Bool
  ) throws(Failure) -> DamagedObject? {
    var damage = DamagedObject(
      digest: object.digest,
      path: objectPath(object.digest),
      urls: object.urls,
      problem: .missing
    )
    do throws(Failure) {
      guard let file = try layers.open(object.digest) else { return damage }
      let size = try file.status().size
      if let expected = object.size, size != expected {
        damage.problem = .size
        return damage
      }
      guard let digest = try readDigest(of: file, isCancelled, &damage) else { return damage }
      bytes += size
      damage.problem = .digest
      return digest == object.digest ? nil : damage
    } catch {
      if error.code == .cancelled { throw error }
      damage.problem = error.code == .storeDamaged ? .notFile : .unreadable
      if damage.problem == .unreadable { damage.reason = error.message }
      return damage
    }
  }

  /// Returns nil when reading the bytes failed twice.
  private func readDigest(
    of file: OpenFile,
    _ isCancelled: () -> Bool,
    _ damage: inout DamagedObject
  ) throws(Failure) -> ContentDigest? {
    do throws(Failure) {
      return try ObjectFolder.digest(of: file, isCancelled: isCancelled)
    } catch {
      if error.code == .cancelled { throw error }
      damage.problem = .unreadable
      damage.reason = error.message
    }
    switch file.reread() {
    case .complete: return try ObjectFolder.digest(of: file)
    case .mediumError: damage.isMediumError = true
    case .otherError: break
    }
    return nil
  }

  /// Removes damaged bodies; sets unreadable ones aside if their medium gives other bodies.
  package func repair(_ report: VerificationReport) throws(Failure) -> [ContentDigest: String] {
    try dropDamaged(report.bad.filter { $0.problem != .unreadable }.map(\.digest))
    guard report.goodCount > 0 else { return [:] }
    let unreadable = report.bad.filter { $0.problem == .unreadable && $0.isMediumError }
      .map(\.digest)
    guard !unreadable.isEmpty else { return [:] }
    let writing = try requireWriting()
    var asidePaths: [ContentDigest: String] = [:]
    try changeObjects(writing) { (_, _) throws(Failure) in
      for digest in unreadable { asidePaths[digest] = try setAside(digest, writing) }
    }
    // Rows come last: without them, the bodies would be removed too.
    try dropDamaged(unreadable)
    return asidePaths
  }

  private func setAside(_ digest: ContentDigest, _ writing: Writing) throws(Failure) -> String? {
    guard let folder = try writing.publisher.objects.folder(of: digest.prefix) else { return nil }
    let newName = RandomName.make("set-aside-")
    try folder.rename(digest.hexadecimal, to: newName, in: writing.partial.folder)
    return writing.partial.folder.path(of: newName)
  }

  func forgetMissingBodies() throws(Failure) {
    var missing: [ContentDigest] = []
    for object in try namedObjects() where try layers.open(object.digest) == nil {
      missing.append(object.digest)
    }
    if !missing.isEmpty { try dropDamaged(missing) }
  }

  func forgetBodies(
    _ digests: [ContentDigest],
    _ writer: IndexWriter
  ) throws(Failure) {
    let segments = try database().prepare(
      "UPDATE segments SET manifest=NULL, etag=NULL, last_modified=NULL WHERE manifest=?1"
    )
    let documents = try database().prepare("DELETE FROM segment_documents WHERE digest=?1")
    for digest in digests {
      try documents.run(digest)
      try writer.forgetBody(digest) { url throws(Failure) in try record(url: url) }
      try segments.run(digest)
    }
  }

  /// Frees the name of an object for the intact body; keeps a directory of that name.
  func clear(_ digest: ContentDigest, _ writing: Writing) throws(Failure) {
    let name = digest.hexadecimal
    guard let folder = try writing.publisher.objects.folder(of: digest.prefix),
      let status = try folder.status(of: name)
    else { return }
    guard status.kind == .folder else {
      return try writing.publisher.remove([digest], updating: &times)
    }
    guard let asidePath = try setAside(digest, writing) else { return }
    diagnostics.append(
      Diagnostic(
        "store.set-aside",
        "the directory `\(folder.path(of: name))` was moved to `\(asidePath)`",
        severity: .warning,
        hint: "delete it when it is no longer needed"
      )
    )
  }
}
