internal import Glibc
package import PrefetchCore
internal import PrefetchCrypto
internal import Synchronization

/// The open file of a stored body, for one reader.
package final class StoredBody: Sendable {
  private let file: OpenFile
  private let digest: ContentDigest
  private let size: Int64
  private let known: VerifiedFiles
  private let wasHashed = Atomic<Bool>(false)

  fileprivate init(
    _ file: OpenFile,
    _ digest: ContentDigest,
    size: Int64,
    _ known: VerifiedFiles,
    isVerified: Bool
  ) {
    self.file = file
    self.digest = digest
    self.size = size
    self.known = known
    if isVerified { wasHashed.store(true, ordering: .relaxed) }
  }

  package var isVerified: Bool {
    wasHashed.load(ordering: .relaxed)
  }

  /// Hashes the whole file; returns false when the digest differs or the file cannot be read.
  package func verify() -> Bool {
    guard let status = try? file.status(), status.size == size,
      let found = try? ObjectFolder.digest(of: file)
    else { return false }
    known.record(digest, status, isWhole: found == digest)
    guard found == digest else { return false }
    wasHashed.store(true, ordering: .relaxed)
    return true
  }

  /// Returns the open descriptor, which the caller has to close.
  package func release() -> Int32 {
    file.release()
  }

  package func another() -> StoredBody? {
    let number = fcntl(file.number, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { return nil }
    return StoredBody(
      OpenFile(owning: number, path: file.path),
      digest,
      size: size,
      known,
      isVerified: isVerified
    )
  }

  package func pass() throws(Failure) -> Pass {
    Pass(self, try BodyHasher(), try file.status())
  }

  /// Sequential read of a body, which is hashed on the way.
  package final class Pass {
    private let body: StoredBody
    private let hasher: BodyHasher
    private let status: FileStatus
    private var offset: Int64 = 0

    fileprivate init(_ body: StoredBody, _ hasher: BodyHasher, _ status: FileStatus) {
      self.body = body
      self.hasher = hasher
      self.status = status
    }

    /// Reads the next bytes; returns nil on an error, and at the end when the digest is wrong.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int? {
      guard position == offset, status.size == body.size else { return nil }
      let number = body.file.number
      let room = Int(min(Int64(buffer.count), body.size - offset))
      let count = SystemCall.count { unsafe pread(number, buffer.baseAddress, room, off_t(offset)) }
      guard count > 0 || room == 0 else { return nil }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
      unsafe hasher.update(bytes.bytes)
      offset += Int64(count)
      guard offset == body.size else { return count }
      let isWhole = hasher.finish().sha256 == body.digest
      body.known.record(body.digest, status, isWhole: isWhole)
      return isWhole ? count : nil
    }
  }
}

/// Results of hashing bodies, with the status of each file at that time.
package final class VerifiedFiles: Sendable {
  private struct Finding {
    var status: FileStatus
    var isWhole: Bool
  }

  private let findings = Mutex<[ContentDigest: Finding]>([:])

  package init() {}

  /// Returns whether the file is intact; nil when it was not hashed in its present status.
  fileprivate func isWhole(_ digest: ContentDigest, _ status: FileStatus) -> Bool? {
    findings.withLock { findings in
      findings[digest].flatMap { $0.status == status ? $0.isWhole : nil }
    }
  }

  /// Records a result, unless the file changed just now: it could change again with equal times.
  fileprivate func record(_ digest: ContentDigest, _ status: FileStatus, isWhole: Bool) {
    guard !isWhole || FileAge.nanoseconds(since: status.changed) > Self.grain else { return }
    findings.withLock { findings in
      if findings.count >= Self.most { findings.removeAll() }
      findings[digest] = Finding(status: status, isWhole: isWhole)
    }
  }

  /// Twice the coarsest tick of file times in use here, in nanoseconds.
  private static let grain: Int64 = 100_000_000
  private static let most = 1 << 16
}

/// A body whose bytes were examined.
package struct IntactBody {
  let file: OpenFile
  let size: Int64

  /// Reads the body in pieces, since a mapped one counts as memory and may be shortened meanwhile.
  package func eachPiece(_ use: (RawSpan) throws(Failure) -> Void) throws(Failure) {
    try FileBytes.eachPiece(of: file, use)
  }
}

enum FileAge {
  static func nanoseconds(since instant: Int64) -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec) &- instant
  }
}

/// The bodies of all layers, for readers on any thread.
package struct BodyShelf: Sendable {
  private let objects: ObjectLayers
  private let known: VerifiedFiles

  init(_ objects: ObjectLayers, _ known: VerifiedFiles) {
    self.objects = objects
    self.known = known
  }

  package func has(_ digest: ContentDigest) -> Bool {
    objects.holds(digest)
  }

  /// Hard-links a body into the folder of a lease; a body of a lower cache is read where it is.
  func link(_ digest: ContentDigest, into folder: Folder) throws(Failure) {
    guard let (home, isOwn) = try objects.home(of: digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    let name = digest.hexadecimal
    let target = try folder.makingFolder(ObjectFolder.name(of: digest.prefix)).0
    let result = home.link(name, to: name, in: target)
    guard result == 0 || !isOwn else { throw .system(-result, "link", home.path(of: name)) }
  }

  package func open(_ digest: ContentDigest, size: Int64) -> StoredBody? {
    guard let file = (try? objects.open(digest)) ?? nil,
      let status = try? file.status()
    else { return nil }
    let isWhole = status.size == size ? known.isWhole(digest, status) : false
    guard isWhole != false else { return nil }
    return StoredBody(file, digest, size: size, known, isVerified: isWhole ?? false)
  }
}
