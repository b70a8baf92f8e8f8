internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto
internal import Synchronization

/// One part under its name, locked against all others as long as this value lives.
///
/// The file of facts is written last and removed first, so that it never speaks of another file.
final class KeptPart: Sendable {
  let file: OpenFile
  private let folder: Folder
  private let name: String
  private let facts: Mutex<PartialFacts>
  /// How much the last note of what was written speaks of.
  private let notedSize = Atomic<Int64>(0)

  /// What a kill may cost of a small part, and of the largest.
  private static let smallestStep: Int64 = 48 << 10
  private static let largestStep: Int64 = 4 << 20

  init(_ file: OpenFile, name: String, in folder: Folder, _ facts: PartialFacts) {
    self.file = file
    self.name = name
    self.folder = folder
    self.facts = Mutex(facts)
  }

  deinit {
    // As in ``KernelLock``.
    flock(file.number, LOCK_UN)
  }

  /// Gives what is kept to a reader, and leaves the file at the offset from which it then grows.
  ///
  /// Fails where the bytes are not those that were written: then the part goes.
  func replay(_ prefix: PartPrefix, _ read: (RawSpan) -> Void) throws(Failure) {
    let hasher = try BodyHasher()
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    var position: Int64 = 0
    while position < prefix.size {
      let count = Int(
        min(Int64(try file.read(into: &buffer, at: position)), prefix.size - position)
      )
      guard count > 0 else { throw Failure(.disk, "`\(file.path)` became shorter") }
      let piece = unsafe buffer.span.extracting(first: count).bytes
      hasher.update(piece)
      read(piece)
      position += Int64(count)
    }
    guard hasher.finish().sha256 == prefix.digest else {
      remove()
      throw Failure(
        .disk,
        "the kept part of a body in `\(folder.path)` was damaged and is removed",
        isTransient: true
      )
    }
    // Cut before the facts say that the bytes of this uptime count.
    try SystemCall.require("shorten", file.path) { ftruncate(file.number, off_t(prefix.size)) }
    lseek(file.number, off_t(prefix.size), SEEK_SET)
    facts.withLock { facts in
      facts.written = prefix
      if let sealed = facts.sealed, sealed.size > prefix.size { facts.sealed = prefix }
    }
    notedSize.store(prefix.size, ordering: .relaxed)
    try noteFacts()
  }

  func noteFacts() throws(Failure) {
    try write(facts.withLock(\.self), isDurable: false)
  }

  /// Notes what has been written, now and then: it is all that a later process believes.
  func noteWritten(_ size: Int64, _ digest: () -> ContentDigest?) {
    let step = min(max(Self.smallestStep, size / 64), Self.largestStep)
    guard size - notedSize.load(ordering: .relaxed) >= step, let digest = digest() else { return }
    notedSize.store(size, ordering: .relaxed)
    facts.withLock { $0.written = PartPrefix(size: size, digest: digest) }
    // Without room the older note still holds.
    try? noteFacts()
  }

  /// Makes what arrived outlive a start of the machine, and what is `large` even a power cut.
  ///
  /// At the end of a run hundreds of small ones may break off at once, and each wait for the disk
  /// delays it; what then lacks after a power cut is the name or the facts, so that no part is there.
  func seal(_ prefix: PartPrefix, isLarge: Bool) throws(Failure) -> PartialBody {
    try file.synchronize()
    let changed = facts.withLock { facts in
      facts.written = prefix
      facts.sealed = prefix
      return facts
    }
    try write(changed, isDurable: isLarge)
    if isLarge { try folder.synchronize() }
    var part = changed.part
    part.offset = prefix.size
    return part
  }

  /// Ends the part; the file itself lives on as long as it is open or has another name.
  func remove() {
    _ = try? folder.remove(KeptParts.factsName(name))
    _ = try? folder.remove(KeptParts.bodyName(name))
  }

  /// Gives the body another name instead.
  func move(to newName: String, in other: Folder) throws(Failure) {
    _ = try? folder.remove(KeptParts.factsName(name))
    try folder.rename(KeptParts.bodyName(name), to: newName, in: other)
  }

  /// The mode of an object, for the moment when it becomes one.
  func makeReadOnly() throws(Failure) {
    try SystemCall.require("change the mode of", file.path) { fchmod(file.number, 0o444) }
  }

  private func write(_ facts: PartialFacts, isDurable: Bool) throws(Failure) {
    guard let bytes = facts.encoded else { throw Failure(.internal, "a part with odd facts") }
    let file = try folder.open(KeptParts.factsName(name), O_WRONLY | O_CREAT, mode: 0o600)
    // One write over the old one: a kill leaves one of the two, and a checksum tells a torn one.
    try file.write(unsafe bytes.span.bytes)
    guard isDurable else { return }
    try file.synchronize()
  }
}
