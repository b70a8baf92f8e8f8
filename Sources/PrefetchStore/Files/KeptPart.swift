internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto
internal import Synchronization

/// A partial body under its file name, locked while this value lives; its facts are written last
/// and removed first, so that they never describe another file.
final class KeptPart: Sendable {
  let file: OpenFile
  private let folder: Folder
  private let name: String
  private let facts: Mutex<PartialFacts>
  private let recordedSize = Atomic<Int64>(0)
  private let recordedAt = Mutex<ContinuousClock.Instant?>(nil)

  /// Most time, and most bytes of a small part and the largest one, that a kill may cost.
  private static let longestStep = Duration.milliseconds(10)
  private static let smallestStep: Int64 = 48 << 10
  private static let largestStep: Int64 = 4 << 20

  init(_ file: OpenFile, name: String, in folder: Folder, _ facts: PartialFacts) {
    self.file = file
    self.name = name
    self.folder = folder
    self.facts = Mutex(facts)
  }

  deinit {
    flock(file.number, LOCK_UN)
  }

  /// Reads the first bytes and truncates the file behind the last ones; removes a damaged part.
  func replay(_ prefix: PartExtent, _ read: (RawSpan) -> Void) throws(Failure) {
    let hasher = try BodyHasher()
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    var position: Int64 = 0
    while position < prefix.size {
      let count = Int(
        min(Int64(try file.read(into: &buffer, at: position)), prefix.size - position)
      )
      guard count > 0 else { throw Failure(.disk, "`\(file.path)` became shorter") }
      let chunk = unsafe buffer.span.extracting(first: count).bytes
      hasher.update(chunk)
      read(chunk)
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
    // Truncate before the facts say that these bytes count.
    try SystemCall.require("shorten", file.path) { ftruncate(file.number, off_t(prefix.end)) }
    lseek(file.number, off_t(prefix.size), SEEK_SET)
    facts.withLock { facts in
      facts.written = prefix
      if let sealed = facts.sealed, max(sealed.size, sealed.end) > prefix.end {
        facts.sealed = prefix
      }
    }
    recordedSize.store(prefix.storedSize, ordering: .relaxed)
    try writeFacts()
  }

  func writeFacts() throws(Failure) {
    try write(facts.withLock(\.self), isDurable: false)
  }

  /// Records the written bytes now and then: a later process trusts only recorded bytes.
  func recordWritten(_ size: Int64, _ extent: () -> PartExtent?) {
    let step = size - recordedSize.load(ordering: .relaxed)
    guard step >= Self.smallestStep,
      step >= min(size / 64, Self.largestStep) || isRecordOld, let extent = extent()
    else { return }
    record(extent)
  }

  private var isRecordOld: Bool {
    recordedAt.withLock { $0.map { ContinuousClock.now - $0 > Self.longestStep } ?? true }
  }

  func record(_ extent: PartExtent) {
    recordedSize.store(extent.storedSize, ordering: .relaxed)
    recordedAt.withLock { $0 = .now }
    facts.withLock { $0.written = extent }
    // On a full disk the older facts stay valid.
    try? writeFacts()
  }

  /// Makes the part survive a restart of the machine; a large part also survives a power cut.
  ///
  /// Hundreds of small parts may break off when a run ends, and each wait for the disk delays it.
  func seal(_ extent: PartExtent, isLarge: Bool) throws(Failure) -> PartialBody {
    try file.synchronize()
    let changed = facts.withLock { facts in
      facts.written = extent
      facts.sealed = extent
      return facts
    }
    try write(changed, isDurable: isLarge)
    if isLarge { try folder.synchronize() }
    return changed.part(extent)
  }

  func remove() {
    _ = try? folder.remove(KeptParts.factsName(name))
    _ = try? folder.remove(KeptParts.bodyName(name))
  }

  func move(to newName: String, in other: Folder) throws(Failure) {
    _ = try? folder.remove(KeptParts.factsName(name))
    try folder.rename(KeptParts.bodyName(name), to: newName, in: other)
  }

  func makeReadOnly() throws(Failure) {
    try SystemCall.require("change the mode of", file.path) { fchmod(file.number, 0o444) }
  }

  private func write(_ facts: PartialFacts, isDurable: Bool) throws(Failure) {
    guard let bytes = facts.encoded else { throw Failure(.internal, "a part with odd facts") }
    let file = try folder.open(KeptParts.factsName(name), O_WRONLY | O_CREAT, mode: 0o600)
    // Overwritten in place: a kill leaves the old or the new facts, and a checksum detects a mix.
    try file.write(unsafe bytes.span.bytes)
    guard isDurable else { return }
    try file.synchronize()
  }
}
