internal import PrefetchCore
internal import PrefetchCrypto

/// Bytes out of order: they are written at once, and read again when the gap before them is
/// closed, since digests are over the order.
extension BodyFile: RangeSink {
  func beginRanges() -> Bool {
    if ahead != nil { return true }
    guard !isOver, target?.part != nil, let wholeSize = plan.wholeSize,
      !plan.heedsFreeDisk || area.hasRoom(for: wholeSize - writtenSize), (try? flush()) != nil
    else { return false }
    ahead = SpansAhead()
    return true
  }

  func write(_ bytes: RawSpan, at offset: Int64) throws(Failure) {
    guard offset != size else { return try append(bytes) }
    guard !isOver, ahead != nil, offset > size else {
      throw Failure(.internal, "bytes in the middle of a body that arrives in order")
    }
    try writeWhereRoomIs(bytes, at: offset)
    try ahead?.add(bytes, at: offset)
    recordProgress()
  }

  func hashWritten(atMost count: Int64) throws(Failure) {
    guard let file = target?.file else { return }
    var rest = count
    var buffer = [UInt8](repeating: 0, count: Int(min(rest, Self.readSize)))
    while rest > 0, let span = ahead?.spans.first, span.bounds.lowerBound <= size {
      let check = try checkOfReading()
      let wanted = Int(min(rest, span.bounds.upperBound - size, Int64(buffer.count)))
      let read = min(wanted, try file.read(into: &buffer, at: size))
      guard read > 0 else {
        throw growth?.wasEvicted == true
          ? GrowingBody.loss : Failure(.disk, "`\(file.path)` became shorter")
      }
      let chunk = unsafe buffer.span.extracting(first: read).bytes
      hasher.update(chunk)
      check.update(chunk)
      beginning.append(chunk)
      size += Int64(read)
      writtenSize = size
      rest -= Int64(read)
      guard size == span.bounds.upperBound else { continue }
      guard check.digestSoFar() == span.digest else { throw Self.damage }
      ahead?.removeFirst()
    }
    recordProgress()
  }

  private func checkOfReading() throws(Failure) -> BodyHasher {
    if let reading = ahead?.reading { return reading.check }
    guard let extent else { throw Failure(.internal, "no memory left for a digest") }
    let check = try BodyHasher()
    ahead?.reading = SpansAhead.Reading(extent: extent, check: check)
    return check
  }

  func forgetSpans() {
    ahead?.removeAll()
    // The record must not name bytes that are being written again.
    if let extent { target?.part?.record(extent) }
  }

  // MARK: The record

  /// Certain bytes of the body; nil while some are only in the buffer.
  var extent: PartExtent? {
    var extent: PartExtent
    if let reading = ahead?.reading {
      extent = reading.extent
    } else {
      guard writtenSize == size, let digest = hasher.digestSoFar() else { return nil }
      extent = PartExtent(size: size, digest: digest)
    }
    guard let ahead else { return extent }
    guard let spans = ahead.recorded else { return nil }
    extent.spans = spans
    return extent
  }

  /// Number of bytes in the file.
  var storedSize: Int64 {
    guard let ahead else { return writtenSize }
    return (ahead.reading?.extent.size ?? writtenSize) + ahead.storedSize
  }

  func recordProgress() {
    target?.part?.recordWritten(storedSize) { extent }
    guard storedSize - writebackSize >= Self.writebackStep else { return }
    writebackSize = storedSize
    target?.file?.beginWriteback()
  }

  private static let damage = Failure(
    .disk,
    "the kept part of a body was damaged and is removed",
    isTransient: true
  )
  private static let readSize: Int64 = 256 << 10
  private static let writebackStep: Int64 = 8 << 20
}
