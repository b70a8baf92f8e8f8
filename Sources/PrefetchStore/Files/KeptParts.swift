internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto

/// Partial bodies that outlive their process: two files in `CACHE/partial` for each key.
///
/// `HASH.body` has the bytes, `HASH.facts` key and digests. After a kill the last recorded digest
/// counts, after a power cut the last synchronized one.
struct KeptParts: Sendable {
  let folder: Folder

  private static let longestLife: Duration = .seconds(7 * 24 * 3600)

  // MARK: Reading

  func all() throws(Failure) -> [String: PartialBody] {
    var parts: [String: PartialBody] = [:]
    for name in try folder.names() where name.hasSuffix(Self.factsSuffix) {
      let stem = String(name.dropLast(Self.factsSuffix.count))
      guard let facts = facts(of: stem), let part = part(stem, facts) else { continue }
      parts[facts.key] = part
    }
    return parts
  }

  func part(of key: String) -> PartialBody? {
    let name = Self.name(of: key)
    return facts(of: name).flatMap { part(name, $0) }
  }

  private func part(_ name: String, _ facts: PartialFacts) -> PartialBody? {
    // A second link means that the body was published and is no part any more.
    guard let status = try? folder.status(of: Self.bodyName(name)), status.kind == .file,
      status.linkCount == 1,
      let extent = facts.extent(inFileOf: status.size, bootID: Self.bootID)
    else { return nil }
    return facts.part(extent)
  }

  private func facts(of name: String) -> PartialFacts? {
    let number = folder.openNumber(Self.factsName(name), O_RDONLY | O_NONBLOCK)
    guard number >= 0 else { return nil }
    let file = OpenFile(owning: number, path: folder.path(of: Self.factsName(name)))
    guard let status = try? file.status(), status.kind == .file, status.size < Self.longestFacts
    else { return nil }
    let facts = try? FileBytes.withBytes(of: file) { PartialFacts($0) }
    guard let facts, Self.name(of: facts.key) == name else { return nil }
    return facts
  }

  // MARK: Writing

  /// Gives an open unnamed file the name of a part; returns nil when another process has the name.
  func keep(_ file: OpenFile, key: String, as part: PartialBody) -> KeptPart? {
    guard let bootID = Self.bootID, let head = ResumeRule.lasting(part.head) else { return nil }
    var start = part
    start.offset = 0
    start.spans = []
    start.head = head
    // The file contains the bytes of the object that it began with.
    start.object = nil
    let facts = PartialFacts(key: key, part: start, bootID: bootID)
    let name = Self.name(of: key)
    guard facts.encoded != nil, flock(file.number, LOCK_EX | LOCK_NB) == 0 else { return nil }
    // Facts without a body would be taken for the new body's facts.
    if isMissing(name) {
      _ = try? folder.remove(Self.factsName(name))
    }
    var result = folder.link(file, as: Self.bodyName(name))
    if result == -EEXIST, remove(name) {
      result = folder.link(file, as: Self.bodyName(name))
    }
    guard result == 0 else { return nil }
    let kept = KeptPart(file, name: name, in: folder, facts)
    guard fchmod(file.number, 0o600) == 0, (try? kept.writeFacts()) != nil else {
      kept.remove()
      return nil
    }
    return kept
  }

  /// Opens a part to continue at an offset, with the last response's facts; returns its digests too.
  func open(
    _ key: String,
    at part: PartialBody
  ) throws(Failure) -> (part: KeptPart, extent: PartExtent) {
    let name = Self.name(of: key)
    guard let bootID = Self.bootID, let file = locked(name) else { throw Self.lostPart(key) }
    // This process has the lock, so a part that does not fit belongs to no other run.
    guard let facts = facts(of: name), facts.key == key,
      SealedURL.isSame(facts.part.source, part.source),
      facts.part.validator == part.validator,
      part.wholeSize ?? facts.part.wholeSize == facts.part.wholeSize ?? part.wholeSize,
      self.part(name, facts) != nil, let size = try? file.status().size,
      let extent = facts.extent(inFileOf: size, bootID: bootID), extent.size == part.offset,
      extent.spans.map(\.bounds) == part.spans
    else {
      removeFiles(of: name)
      throw Self.lostPart(key)
    }
    var current = PartialFacts(key: key, part: facts.part, bootID: bootID)
    current.sealed = facts.sealed
    current.part.wholeSize = part.wholeSize ?? facts.part.wholeSize
    // Without room for the new headers, the recorded ones stay valid.
    current.part.head = ResumeRule.lasting(part.head) ?? facts.part.head
    return (KeptPart(file, name: name, in: folder, current), extent)
  }

  func forget(_ key: String) {
    remove(Self.name(of: key))
  }

  /// Removes parts that cannot be continued, and parts that are too old unless spared.
  func tidyUp(now: Instant, keeping isKept: (String) -> Bool = { _ in false }) throws(Failure) {
    var stems: Set<String> = []
    for name in try folder.names() {
      for suffix in [Self.factsSuffix, Self.bodySuffix] where name.hasSuffix(suffix) {
        stems.insert(String(name.dropLast(suffix.count)))
      }
    }
    for stem in stems where !isWorthKeeping(stem, now, isKept) {
      remove(stem)
    }
  }

  private func isWorthKeeping(
    _ name: String,
    _ now: Instant,
    _ isKept: (String) -> Bool
  ) -> Bool {
    guard let facts = facts(of: name), part(name, facts) != nil,
      let status = try? folder.status(of: Self.bodyName(name))
    else { return false }
    let changed = Instant(milliseconds: status.modified / 1_000_000)
    if changed < Self.firstPossible {
      // Written by a machine whose clock was not set yet: the age counts from now.
      if let file = (try? folder.openExisting(Self.bodyName(name), O_RDWR)) ?? nil {
        futimens(file.number, nil)
      }
      return true
    }
    return now < changed + Self.longestLife || isKept(facts.key)
  }

  private static let firstPossible = Instant(seconds: 1_577_836_800)

  /// Removes the largest part that no worker is writing; returns false when there is none.
  func evictLargest() -> Bool {
    let names = ((try? folder.names()) ?? []).filter { $0.hasSuffix(Self.bodySuffix) }
    let sizes = names.map { (name: $0, size: (try? folder.status(of: $0))??.size ?? 0) }
    for part in sizes.sorted(by: { ($1.size, $1.name) < ($0.size, $0.name) }) {
      let stem = String(part.name.dropLast(Self.bodySuffix.count))
      if part.size > 0, let file = locked(stem) {
        removeFiles(of: stem)
        withExtendedLifetime(file) {}
        return true
      }
    }
    return false
  }

  /// Returns whether the names are free, which they are not while a worker writes the part.
  @discardableResult
  private func remove(_ name: String) -> Bool {
    guard let file = locked(name) else {
      guard isMissing(name) else { return false }
      _ = try? folder.remove(Self.factsName(name))
      return true
    }
    defer { withExtendedLifetime(file) {} }
    removeFiles(of: name)
    return true
  }

  private func isMissing(_ name: String) -> Bool {
    do throws(Failure) {
      return try folder.status(of: Self.bodyName(name)) == nil
    } catch {
      return false
    }
  }

  private func removeFiles(of name: String) {
    _ = try? folder.remove(Self.factsName(name))
    _ = try? folder.remove(Self.bodyName(name))
  }

  private func locked(_ name: String) -> OpenFile? {
    let number = folder.openNumber(Self.bodyName(name), O_RDWR | O_NONBLOCK)
    guard number >= 0 else { return nil }
    let file = OpenFile(owning: number, path: folder.path)
    guard flock(number, LOCK_EX | LOCK_NB) == 0, let own = try? file.status(),
      // Another process may have replaced the file before the lock was taken.
      let named = try? folder.open(Self.bodyName(name), O_RDONLY | O_NONBLOCK).status(),
      own.isSameFile(as: named)
    else { return nil }
    return file
  }

  // MARK: Names

  static func name(of key: String) -> String {
    SHA256.digest(of: key).hexadecimal
  }

  static func bodyName(_ name: String) -> String {
    name + bodySuffix
  }

  static func factsName(_ name: String) -> String {
    name + factsSuffix
  }

  private static func lostPart(_ key: String) -> Failure {
    Failure(.disk, "the part kept of `\(key)` is in use, changed or gone", isTransient: true)
  }

  private static let bodySuffix = ".body"
  private static let factsSuffix = ".facts"
  private static let longestFacts: Int64 = 64 * 1024

  private static let bootID: String? = {
    guard let folder = try? Folder(at: "/proc/sys/kernel/random"),
      let file = try? folder.open("boot_id", O_RDONLY)
    else { return nil }
    var buffer = [UInt8](repeating: 0, count: 64)
    guard let count = try? file.read(into: &buffer, at: 0), count > 30 else { return nil }
    return String(decoding: buffer[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
  }()
}
