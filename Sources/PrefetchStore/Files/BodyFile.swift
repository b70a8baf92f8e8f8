internal import PrefetchCore
internal import PrefetchCrypto

/// One body on its way into a staging area, hashed while it is written.
///
/// A small body waits in memory and is written at once; a larger one goes to its file as it comes.
/// Where the rest could be asked for later, the file of a large one has a name that outlives the
/// process from its beginning, and that of another gets one when it breaks off.
final class BodyFile: BodySink {
  private let area: StagingArea
  private let hasher: BodyHasher
  private var plan: BodyPlan
  private var buffer: [UInt8] = []
  private var beginning = BodyBeginning()
  private var target: StagedFile?
  private var mayBeKept: Bool
  private var isOver = false
  /// Whether it ended as it should, so that it can take the next body.
  private var isFinished = false
  /// Once it is so large that smaller ones go before it on a full disk.
  private var growth: GrowingBody?
  private var writtenSize: Int64 = 0
  private var hasMetFullDisk = false
  /// Bytes written before the body ended for want of free space, see ``FreeSpace``; nil for other bodies.
  private var endingSize: Int64?
  private(set) var size: Int64 = 0

  init(in area: StagingArea, hasher: BodyHasher, _ plan: BodyPlan) {
    self.area = area
    self.hasher = hasher
    self.plan = plan
    beginning.limit = plan.prefixLength
    mayBeKept = plan.mayBeKept
  }

  /// The hasher has seen what the part holds.
  convenience init(
    in area: StagingArea,
    hasher: BodyHasher,
    _ plan: BodyPlan,
    continuing part: KeptPart,
    at offset: Int64,
    after beginning: BodyBeginning
  ) {
    self.init(in: area, hasher: hasher, plan)
    self.beginning = beginning
    target = StagedFile(file: part.file, part: part)
    size = offset
    writtenSize = offset
    mayBeKept = false
  }

  /// Only what is kept beside the hasher and the buffer differs from body to body.
  func begin(_ plan: BodyPlan) -> Bool {
    guard isFinished, plan.algorithms == self.plan.algorithms else { return false }
    if case .with = plan.resumption { return false }
    self.plan = plan
    beginning = BodyBeginning(limit: plan.prefixLength)
    mayBeKept = plan.mayBeKept
    isOver = false
    isFinished = false
    writtenSize = 0
    size = 0
    return true
  }

  func append(_ bytes: RawSpan) throws(Failure) {
    guard !isOver else { throw Failure(.internal, "bytes for a body that is over") }
    // What is hashed by then is what is written, so that a part can be noted with its digest.
    if buffer.count + bytes.byteCount > Self.bufferSize {
      try flush()
    }
    hasher.update(bytes)
    size += Int64(bytes.byteCount)
    let isWhole = buffer.isEmpty && size == plan.expectedSize
    guard !isWhole, bytes.byteCount <= Self.bufferSize else { return try write(bytes) }
    if buffer.isEmpty, let rest = plan.expectedSize.map({ $0 - writtenSize }), rest > 0 {
      buffer.reserveCapacity(Int(min(rest, Int64(Self.bufferSize))))
    }
    unsafe bytes.withUnsafeBytes { chunk in
      unsafe buffer.append(contentsOf: chunk)
    }
  }

  /// Takes in a stored body, which this one begins with; fails where it is not there whole.
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

  /// Zero is the number of no body, so that there is nothing to read or to discard.
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
    // A part that fills a disk leaves no room for the bodies that fit.
    guard !hasMetFullDisk else {
      abandon()
      return nil
    }
    if size >= plan.smallestPart { try? keepPart() }
    guard let digest = hasher.digestSoFar(), writtenSize == size,
      let kept = try? target?.part?.seal(
        PartPrefix(size: size, digest: digest),
        isLarge: size >= Self.largeSize
      )
    else {
      abandon()
      return nil
    }
    isOver = true
    guard let growth else {
      target = nil
      return kept
    }
    // Without its lock it is a part like others, which may go.
    let isWhole = area.endGrowing(growth) { if !growth.hasGivenWay { target = nil } }
    guard isWhole else {
      abandon()
      return nil
    }
    return kept
  }

  func valueAll() {
    plan.smallestPart = 1
  }

  func abandon() {
    isOver = true
    if let endingSize {
      self.endingSize = nil
      area.endForSpace(endingSize, removeTarget)
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

  private func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    var pending: [UInt8] = []
    swap(&pending, &buffer)
    try write(unsafe pending.span.bytes)
    pending.removeAll(keepingCapacity: true)
    buffer = pending
  }

  private func write(_ bytes: RawSpan) throws(Failure) {
    beginning.take(bytes)
    guard plan.keepsBytes else { return }
    if target == nil {
      target = try area.openFile()
    }
    if max(size, plan.wholeSize ?? 0) >= Self.largeSize {
      try keepPart()
      growth = growth ?? target?.file.flatMap(area.noteGrowing)
    }
    try writeWhereRoomIs(bytes)
  }

  private func writeWhereRoomIs(_ bytes: RawSpan) throws(Failure) {
    guard let file = target?.file else { return }
    while true {
      let timesFreed = area.timesFreed
      if plan.heedsFreeDisk, endingSize == nil,
        let shortage = area.shortage(
          writing: bytes.byteCount,
          behind: writtenSize,
          of: plan.expectedSize
        )
      {
        // Kept parts make room for it; other growing bodies do not.
        if area.makeRoom(since: timesFreed, sparesGrowing: true) {
          area.endForSpace(writtenSize)
          continue
        }
        endingSize = writtenSize
        hasMetFullDisk = true
        throw shortage
      }
      do throws(Failure) {
        if let growth {
          try growth.append(bytes, after: writtenSize, deed: Self.deed)
        } else {
          try file.append(bytes, after: writtenSize, deed: Self.deed)
        }
        writtenSize += Int64(bytes.byteCount)
        if writtenSize == size { target?.part?.noteWritten(size, hasher.digestSoFar) }
        return
      } catch {
        guard error.code == .diskFull else { throw error }
        guard growth?.hasGivenWay != true,
          area.makeRoom(since: timesFreed, sparesGrowing: growth != nil)
        else {
          hasMetFullDisk = true
          throw error
        }
      }
    }
  }

  /// Gives the file its lasting name, if it may have one and has none.
  private func keepPart() throws(Failure) {
    guard mayBeKept, let target else { return }
    mayBeKept = false
    guard let key = plan.partialKey, let part = plan.part,
      let kept = try area.keep(target, key: key, as: part)
    else { return }
    self.target = StagedFile(file: target.file, part: kept)
  }

  private static let deed = "write a body into"
  private static let bufferSize = 64 * 1024
  /// From here on losing it to a kill would be worse than a name for each body that comes whole.
  private static let largeSize: Int64 = 1 << 20
}

extension BodyPlan {
  /// Whether there may be a rest that could be asked for.
  fileprivate var mayBeKept: Bool {
    if case .unknown = resumption { false } else { partialKey != nil }
  }

  fileprivate var wholeSize: Int64? {
    expectedSize ?? partial?.wholeSize
  }
}
