internal import PrefetchCore

/// A body that arrives over several connections of one worker.
///
/// The loop sees the first transfer, whose figures count the requests of all.
final class RangedBody {
  /// Bytes worth a read from the file while others arrive.
  private static let worthHashing: Int64 = 1 << 20
  /// Bytes to hash before the worker looks at its other transfers again.
  private static let hashedAtOnce: Int64 = 4 << 20

  /// Transfer that has the head and the sink of the body.
  let first: RunningTransfer
  let tag: String
  var map: RangeMap
  var rule: RangeRule
  /// Lanes in flight; the first transfer's lane comes first.
  private(set) var lanes: [Lane] = []
  /// Bytes that arrived over all connections.
  private(set) var arrivedSize: Int64
  /// Watch of the first transfer, which bounds the time of the whole.
  var watch: TransferWatch?
  private var firstFigures: TransferFigures?
  private var otherFigures: TransferFigures

  init(_ first: RunningTransfer, _ map: RangeMap, _ rule: RangeRule) {
    self.first = first
    self.map = map
    self.rule = rule
    tag = first.rangeTag ?? ""
    arrivedSize = first.arrivedSize
    otherFigures = TransferFigures()
    otherFigures.requestCount = 0
  }

  // MARK: Connections

  var origin: Int { first.queued.assignment.origin }

  /// Whether the first transfer's connection could bring all the rest of the body in order.
  var isLed: Bool {
    guard let share = first.share, lanes.first?.transfer === first else { return false }
    return share.responseEnd == map.size && map.isLed(by: share.start)
  }

  var observation: RangeRule.Observation {
    var observation = RangeRule.Observation(
      received: arrivedSize,
      rest: map.size - map.receivedSize,
      connections: lanes.count
    )
    observation.isEachMoving = lanes.allSatisfy { $0.transfer?.arrivedSize ?? 0 > 0 }
    return observation
  }

  func add(_ lane: Lane) {
    guard !lanes.contains(where: { $0 === lane }) else { return }
    if lane.transfer === first {
      lanes.insert(lane, at: 0)
      watch = lane.watch
    } else {
      lanes.append(lane)
    }
  }

  /// Records the end of a connection.
  func remove(_ lane: Lane, _ figures: TransferFigures) {
    lanes.removeAll { $0 === lane }
    guard let transfer = lane.transfer, let share = transfer.share else { return }
    map.stop(share.start)
    if transfer === first {
      firstFigures = figures
      lane.detach()
    } else {
      otherFigures = otherFigures.adding(figures)
    }
  }

  func figures(at now: Instant) -> TransferFigures {
    var figures = firstFigures ?? TransferFigures()
    figures = figures.adding(otherFigures)
    if let started = figures.started { figures.total = max(figures.total ?? .zero, now - started) }
    return figures
  }

  /// Returns the request for a range: the first one, for these bytes of the same body only.
  func request(for range: Range<Int64>) -> QueuedRequest {
    var request = first.request
    request.headers.removeAll { field in
      ["if-none-match", "if-modified-since"].contains(field.name.lowercased())
    }
    request.headers += [
      HeaderField("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"),
      HeaderField("If-Match", tag),
    ]
    request.allowsCoding = false
    request.partial = nil
    request.partialKey = nil
    request.expectedOutcome = nil
    request.storedForConfirmation = nil
    let queued = first.queued
    return QueuedRequest(request, queued.assignment, allowances: queued.allowances)
  }

  // MARK: Bytes

  func write(_ bytes: RawSpan, of share: RangeShare) throws(Failure) {
    try first.rangeSink().write(bytes, at: share.end)
    map.receive(Int64(bytes.byteCount), in: share.start)
    arrivedSize += Int64(bytes.byteCount)
  }

  /// Hashes bytes that arrived before those in front of them; returns whether more are waiting.
  func hashSome() throws(Failure) -> Bool {
    let sink = try first.rangeSink()
    guard isWorthHashing(sink) else { return false }
    try sink.hashWritten(atMost: Self.hashedAtOnce)
    return isWorthHashing(sink)
  }

  private func isWorthHashing(_ sink: any RangeSink) -> Bool {
    map.contiguousSize - sink.size >= (map.isComplete ? 1 : Self.worthHashing)
  }

  /// Lets the first connection bring everything again that lies behind its bytes.
  func forgetSpans() throws(Failure) {
    guard isLed, let start = first.share?.start else { return }
    try first.rangeSink().forgetSpans()
    map.forget(except: start)
  }
}

extension TransferFigures {
  /// Returns the figures with the messages of another request for the same body.
  fileprivate func adding(_ other: TransferFigures) -> TransferFigures {
    var sum = self
    sum.requestCount += other.requestCount
    sum.wireBytes += other.wireBytes
    sum.requestBytes = requestBytes.map { $0 + (other.requestBytes ?? 0) } ?? other.requestBytes
    return sum
  }
}
