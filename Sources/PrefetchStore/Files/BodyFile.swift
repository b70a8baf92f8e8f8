internal import PrefetchCore
internal import PrefetchCrypto

/// One body on its way into a staging area, hashed while it is written.
///
/// A small body waits in memory and is written at once; a large one goes to its file as it comes.
final class BodyFile: BodySink {
  private let area: StagingArea
  private let hasher: BodyHasher
  private var buffer: [UInt8] = []
  private var target: StagedFile?
  private var isOver = false
  private(set) var size: Int64 = 0

  init(in area: StagingArea, hasher: BodyHasher, expectedSize: Int64?) {
    self.area = area
    self.hasher = hasher
    if let expectedSize, expectedSize > 0 {
      buffer.reserveCapacity(Int(min(expectedSize, Int64(Self.bufferSize))))
    }
  }

  func append(_ bytes: RawSpan) throws(Failure) {
    guard !isOver else { throw Failure(.internal, "bytes for a body that is over") }
    hasher.update(bytes)
    size += Int64(bytes.byteCount)
    if buffer.count + bytes.byteCount > Self.bufferSize {
      try flush()
    }
    guard bytes.byteCount <= Self.bufferSize else { return try write(bytes) }
    unsafe bytes.withUnsafeBytes { chunk in
      unsafe buffer.append(contentsOf: chunk)
    }
  }

  func finish() throws(Failure) -> StagedBody {
    guard !isOver else { throw Failure(.internal, "a body can only be finished once") }
    isOver = true
    try flush()
    let staged = if let target { target } else { try area.openFile() }
    target = nil
    let digests = hasher.finish()
    return StagedBody(
      id: try area.register(staged),
      digest: digests.sha256,
      size: size,
      otherDigests: digests.others
    )
  }

  func suspend() -> PartialBody? {
    abandon()
    return nil
  }

  func abandon() {
    isOver = true
    target = nil
    buffer = []
  }

  private func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    let pending = buffer
    buffer = []
    try write(unsafe pending.span.bytes)
  }

  private func write(_ bytes: RawSpan) throws(Failure) {
    if target == nil {
      target = try area.openFile()
    }
    try target?.file?.write(bytes)
  }

  private static let bufferSize = 64 * 1024
}
