internal import PrefetchCore
internal import PrefetchCrypto

/// Writer of one body into a staging area, which hashes the bytes on the way.
///
/// A small body is written when it is complete, a large one as it arrives. A large resumable body
/// has a file name from the start; a smaller one gets a name on suspension.
final class BodyFile: BodySink {
  let area: StagingArea
  let hasher: BodyHasher
  private(set) var plan: BodyPlan
  private var buffer: [UInt8] = []
  var beginning = BodyBeginning()
  private(set) var target: StagedFile?
  private var mayBeKept: Bool
  private(set) var isOver = false
  /// Bytes written behind the first `size`; nil for a body that arrives in order.
  var ahead: SpansAhead?
  private var isFinished = false
  /// State of a large body, which gives way to smaller ones on a full disk; nil for a small body.
  private(set) var growth: GrowingBody?
  var writtenSize: Int64 = 0
  /// Bytes in the file when the kernel was last told to write them to the disk.
  var writebackSize: Int64 = 0
  private var hasMetFullDisk = false
  /// Bytes written before the body ended for lack of free space, see ``FreeSpace``; nil otherwise.
  private var freedSize: Int64?
  var size: Int64 = 0

  init(in area: StagingArea, hasher: BodyHasher, _ plan: BodyPlan) {
    self.area = area
    self.hasher = hasher
    self.plan = plan
    beginning.limit = plan.prefixLength
    mayBeKept = plan.mayBeKept
  }

  /// Continues a kept part; the caller has passed the part's bytes to the hasher.
  convenience init(
    in area: StagingArea,
    hasher: BodyHasher,
    _ plan: BodyPlan,
    continuing part: KeptPart,
    at extent: PartExtent,
    after beginning: BodyBeginning
  ) {
    self.init(in: area, hasher: hasher, plan)
    self.beginning = beginning
    target = StagedFile(file: part.file, part: part)
    size = extent.size
    writtenSize = extent.size
    mayBeKept = false
    if !extent.spans.isEmpty { ahead = SpansAhead(extent.spans) }
  }

  /// Prepares this writer for another body; hasher and buffer are used again.
  func begin(_ plan: BodyPlan) -> Bool {
    guard isFinished, plan.algorithms == self.plan.algorithms else { return false }
    if case .with = plan.resumption { return false }
    self.plan = plan
    beginning = BodyBeginning(limit: plan.prefixLength)
    mayBeKept = plan.mayBeKept
    isOver = false
    isFinished = false
    ahead = nil
    writtenSize = 0
    writebackSize = 0
    size = 0
    return true
  }

  func append(_ bytes: RawSpan) throws(Failure) {
    guard !isOver else { throw Failure(.internal, "bytes for a body that is over") }
    // Hashed and written bytes must be the same here, so that a part's digest can be recorded.
    if buffer.count + bytes.byteCount > Self.bufferSize {
      try flush()
    }
    hasher.update(bytes)
    size += Int64(bytes.byteCount)
    let isWhole = buffer.isEmpty && size == plan.expectedSize
    guard !isWhole, ahead == nil, bytes.byteCount <= Self.bufferSize else {
      return try write(bytes)
    }
    if buffer.isEmpty, let rest = plan.expectedSize.map({ $0 - writtenSize }), rest > 0 {
      buffer.reserveCapacity(Int(min(rest, Int64(Self.bufferSize))))
    }
    unsafe bytes.withUnsafeBytes { chunk in
      unsafe buffer.append(contentsOf: chunk)
    }
  }

  /// Copies a stored body as the beginning of this one; throws when that body is not intact.
  func begin(
    with digest: ContentDigest,
    ofSize length: Int64,
    in objects: ObjectFolder
  ) throws(Failure) {
    let lost = Failure(.disk, "the beginning of a body is not stored any more", isTransient: true)
    guard let file = try objects.open(digest) else { throw lost }
    var chunk = [UInt8](repeating: 0, count: Self.bufferSize)
    while size < length {
      let count = Int(min(Int64(try file.read(into: &chunk, at: size)), length - size))
      guard count > 0 else { throw lost }
      try append(unsafe chunk.span.extracting(first: count).bytes)
    }
    guard hasher.digestSoFar() == digest else { throw lost }
  }

  func finish() throws(Failure) -> StagedBody {
    guard !isOver else { throw Failure(.internal, "a body can only be finished once") }
    guard ahead?.isEmpty ?? true else {
      throw Failure(.internal, "a body with holes cannot be finished")
    }
    isOver = true
    try flush()
    buffer = []
    guard plan.keepsBytes else { return finished(number: 0) }
    if let growth, !area.endGrowing(growth) { throw GrowingBody.loss }
    let staged = if let target { target } else { try area.openFile() }
    target = nil
    if staged.part == nil, let key = plan.partialKey {
      area.forgetPart(key)
    }
    let body = finished(number: try area.register(staged))
    guard plan.algorithms.contains(where: { !$0.isOfBytes }) else { return body }
    return try inspected(body)
  }

  private func inspected(_ body: StagedBody) throws(Failure) -> StagedBody {
    var inspected = body
    let inner = plan.algorithms.filter { !$0.isOfBytes }
    do {
      try area.withBytes(of: body) { inspected.inspect($0, for: inner) }
    } catch {
      area.discard(body)
      throw (error as? Failure) ?? Failure(.disk, "a body could not be read again: \(error)")
    }
    return inspected
  }

  /// Returns the finished body; number zero stands for a body without bytes to read or discard.
  private func finished(number: Int) -> StagedBody {
    let digests = hasher.finish()
    isFinished = true
    growth = nil
    return StagedBody(
      id: number,
      digest: digests.sha256,
      size: size,
      otherDigests: digests.others,
      prefix: beginning.bytes
    )
  }

  func suspend() -> PartialBody? {
    guard !isOver, size > 0 else {
      abandon()
      return nil
    }
    try? flush()
    // A part that fills a disk leaves no room for bodies that fit.
    guard !hasMetFullDisk else {
      abandon()
      return nil
    }
    if size >= plan.smallestPart { try? keepPart() }
    guard let extent,
      let kept = try? target?.part?.seal(extent, isLarge: size >= Self.largeSize)
    else {
      abandon()
      return nil
    }
    isOver = true
    guard let growth else {
      target = nil
      return kept
    }
    // After its lock is released, the part can be evicted like any other.
    let isWhole = area.endGrowing(growth) { if !growth.wasEvicted { target = nil } }
    guard isWhole else {
      abandon()
      return nil
    }
    return kept
  }

  func keepAnyPart() {
    plan.smallestPart = 1
  }

  func abandon() {
    isOver = true
    if let freedSize {
      self.freedSize = nil
      area.endForSpace(freedSize, removeTarget)
    } else {
      removeTarget()
    }
    buffer = []
  }

  private func removeTarget() {
    if let growth {
      area.dropGrowing(growth, dropTarget)
    } else {
      dropTarget()
    }
  }

  private func dropTarget() {
    target?.part?.remove()
    target = nil
  }

  func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    var pending: [UInt8] = []
    swap(&pending, &buffer)
    try write(unsafe pending.span.bytes)
    pending.removeAll(keepingCapacity: true)
    buffer = pending
  }

  private func write(_ bytes: RawSpan) throws(Failure) {
    beginning.append(bytes)
    guard plan.keepsBytes else { return }
    if target == nil {
      target = try area.openFile()
    }
    if max(size, plan.wholeSize ?? 0) >= Self.largeSize {
      try keepPart()
      growth = growth ?? target?.file.flatMap(area.registerGrowing)
    }
    try writeWhereRoomIs(bytes, at: writtenSize)
    writtenSize += Int64(bytes.byteCount)
    recordProgress()
  }

  func writeWhereRoomIs(_ bytes: RawSpan, at offset: Int64) throws(Failure) {
    guard let file = target?.file else { return }
    while true {
      let timesFreed = area.timesFreed
      if plan.heedsFreeDisk, freedSize == nil,
        let shortage = area.shortage(
          writing: bytes.byteCount,
          behind: storedSize,
          of: plan.expectedSize
        )
      {
        if area.makeRoom(since: timesFreed, keepsGrowing: true) {
          area.endForSpace(storedSize)
          continue
        }
        freedSize = storedSize
        hasMetFullDisk = true
        throw shortage
      }
      do throws(Failure) {
        try write(bytes, to: file, at: offset)
        return
      } catch {
        guard error.code == .diskFull else { throw error }
        guard growth?.wasEvicted != true,
          area.makeRoom(since: timesFreed, keepsGrowing: growth != nil)
        else {
          hasMetFullDisk = true
          throw error
        }
      }
    }
  }

  private func write(_ bytes: RawSpan, to file: OpenFile, at offset: Int64) throws(Failure) {
    guard ahead == nil else {
      // Bytes behind these must stay.
      guard let growth else { return try file.write(bytes, at: offset, deed: Self.deed) }
      return try growth.write(bytes, at: offset, deed: Self.deed)
    }
    guard let growth else { return try file.append(bytes, after: offset, deed: Self.deed) }
    try growth.append(bytes, after: offset, deed: Self.deed)
  }

  private func keepPart() throws(Failure) {
    guard mayBeKept, let target else { return }
    mayBeKept = false
    guard let key = plan.partialKey, let part = plan.partToKeep,
      let kept = try area.keep(target, key: key, as: part)
    else { return }
    self.target = StagedFile(file: target.file, part: kept)
  }

  private static let deed = "write a body into"
  private static let bufferSize = 64 * 1024
  /// Size from which losing the bytes to a kill costs more than a file name for each body.
  private static let largeSize: Int64 = 1 << 20
}

extension BodyPlan {
  fileprivate var mayBeKept: Bool {
    if case .unknown = resumption { false } else { partialKey != nil }
  }

  var wholeSize: Int64? {
    expectedSize ?? givenPart?.wholeSize
  }
}
