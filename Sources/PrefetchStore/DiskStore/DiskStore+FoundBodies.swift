internal import Glibc
package import PrefetchCore
internal import PrefetchCrypto

extension DiskStore {
  package func seeksLostBodies() throws(Failure) -> Bool {
    try withBackup { () throws(Failure) in try orphanRetentionLimit() != nil }
  }

  /// Returns an orphan that has one of the digests; hashes orphans once per new algorithm.
  package func lostBody(_ digests: [ExpectedDigest]) throws(Failure) -> FoundBody? {
    guard let strongest = digests.map(\.algorithm).max() else { return nil }
    if lostBodies?.algorithms.contains(strongest) != true {
      lostBodies = try findLostBodies((lostBodies?.algorithms ?? []).union([strongest]))
    }
    let found = digests.lazy.compactMap { self.lostBodies?.bodies[$0] }.first
    guard let found, let digest = found.digest, try intactObject(digest) != nil else { return nil }
    return found
  }

  private func findLostBodies(
    _ algorithms: Set<DigestAlgorithm>
  ) throws(Failure) -> LostBodies {
    var lost = LostBodies(algorithms: algorithms)
    let references = try references()
    for prefix in UInt8.min...UInt8.max {
      guard let folder = try objects?.folder(of: prefix) else { continue }
      for name in try objects?.digests(in: prefix) ?? [] where try !references.contains(name) {
        // An unreadable object is fetched again.
        guard let file = (try? ObjectFolder.open(name.hexadecimal, in: folder)) ?? nil,
          let object = try? file.objectFile(),
          let body = try? file.hashed(by: algorithms, isCancelled), body.digest == name
        else { continue }
        examined[name] = object
        lost.add(body)
      }
    }
    return lost
  }

  /// Clones, hard-links or copies a file of the user into the objects.
  ///
  /// The file keeps its mode until its tree is published, since the commit may refuse the body.
  /// Returns false when the file has changed meanwhile.
  func adopt(
    _ file: OpenFile,
    _ status: FileStatus,
    named leaf: String,
    in folder: Folder,
    as digest: ContentDigest,
    mayLink: Bool
  ) throws(Failure) -> Bool {
    if try intactObject(digest) != nil { return true }
    let writing = try requireWriting()
    let source = ObjectPublisher.Source(file: file, leaf: leaf, folder: folder, mayLink: mayLink)
    try writing.publisher.add(source, as: digest, updating: &times)
    guard FileIdentity(try file.status()) == FileIdentity(status),
      let home = try objects?.folder(of: digest.prefix),
      let object = try ObjectFolder.open(digest.hexadecimal, in: home)
    else {
      try writing.publisher.remove([digest], updating: &times)
      return false
    }
    examined[digest] = try object.objectFile()
    return true
  }
}

struct LostBodies {
  let algorithms: Set<DigestAlgorithm>
  private(set) var bodies: [ExpectedDigest: FoundBody] = [:]

  init(algorithms: Set<DigestAlgorithm>) {
    self.algorithms = algorithms
  }

  mutating func add(_ body: StagedBody) {
    var found = FoundBody(digest: body.digest, size: body.size)
    found.otherDigests = body.otherDigests
    for (algorithm, bytes) in body.otherDigests {
      bodies[ExpectedDigest(algorithm: algorithm, bytes: bytes)] = found
    }
    bodies[ExpectedDigest(algorithm: .sha256, bytes: body.digest.bytes)] = found
  }
}

extension OpenFile {
  func hashed(
    by algorithms: Set<DigestAlgorithm>,
    _ isCancelled: () -> Bool
  ) throws(Failure) -> StagedBody {
    let hasher = try BodyHasher(alsoHashing: algorithms)
    var buffer = try buffer
    var size: Int64 = 0
    while true {
      let count = try read(into: &buffer, at: size)
      guard count > 0 else { break }
      guard !isCancelled() else { throw Failure(.cancelled, "stopped while reading `\(path)`") }
      unsafe hasher.update(buffer.span.extracting(first: count).bytes)
      size += Int64(count)
    }
    let digests = hasher.finish()
    var body = StagedBody(
      id: 0,
      digest: digests.sha256,
      size: size,
      otherDigests: digests.others
    )
    let inner = algorithms.filter { !$0.isOfBytes }
    guard !inner.isEmpty else { return body }
    do {
      try FileBytes.withBytes(of: self) { body.inspect($0, for: inner) }
    } catch {
      throw (error as? Failure) ?? Failure(.disk, "`\(path)` could not be read again: \(error)")
    }
    return body
  }
}
