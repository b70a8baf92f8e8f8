import PrefetchCore

/// Progress of a run by segment, built from facts and looks.
struct ProgressState {
  struct Segment {
    let name: String
    /// Number of items; nil before the manifest is known.
    var discovered: Int?
    var settled = 0
    /// Settled items that took a request.
    var worked = 0
    var storedBytes: Int64 = 0
    /// Bytes of finished requests.
    var endedBytes: Int64 = 0
    var engineStatus: RunStatus.Segment
    /// Bodies in flight for longer than a moment.
    var transfers: [RunStatus.Transfer] = []
    var result: SegmentResult?
    var pace = Pace()
  }

  /// Names that say more than those of their segments.
  var titles: [String: String] = [:]
  private(set) var segments: [Segment] = []
  private(set) var pace = Pace()
  private var indices: [String: Int] = [:]

  mutating func apply(_ fact: RunFact) {
    switch fact {
    case .itemsDiscovered(let name, let count):
      change(name) { $0.discovered = ($0.discovered ?? 0) + count }
    case .itemsKept(let name, let count, _, _, _):
      change(name) { $0.settled += count }
    case .itemsConfirmed(let name, let count, _):
      change(name) { segment in
        segment.settled += count
        segment.worked += count
      }
    case .itemsArrived(let name, let arrivals):
      change(name) { segment in
        segment.settled += arrivals.count
        segment.worked += arrivals.count
        for arrival in arrivals { segment.storedBytes += arrival.body.size }
      }
    case .itemSettled(let item):
      guard item.action != .remove else { return }
      let hasCome = item.outcome == .added || item.outcome == .updated
      for name in item.segments {
        change(name) { segment in
          segment.settled += 1
          segment.worked += 1
          if hasCome { segment.storedBytes += item.size ?? 0 }
        }
      }
    case .itemShared(_, let name):
      change(name) { $0.settled += 1 }
    case .requestsCounted(let name, _, _, let bytes):
      change(name) { $0.endedBytes += bytes }
    case .requestFinished(let request):
      for name in request.segments { change(name) { $0.endedBytes += request.wireBytes } }
    case .segmentSettled(let result):
      change(result.name) { $0.result = result }
    case .conditionsRead, .qualityChanged, .itemsRetained, .itemRetained, .itemsStarted,
      .bytesReceived, .requestTraced,
      .requestWaits, .manifestSettled, .listRead, .itemEvicted, .treePublished, .registration,
      .interrupted,
      .storeFailed, .warned:
      break
    }
  }

  private mutating func change(_ name: String, _ change: (inout Segment) -> Void) {
    guard let index = indices[name] else { return }
    change(&segments[index])
  }

  mutating func update(to status: RunStatus, _ now: Moment) {
    if segments.isEmpty {
      segments = status.segments.map { Segment(name: $0.name, engineStatus: $0) }
      for (index, segment) in segments.enumerated() { indices[segment.name] = index }
    }
    for (index, found) in status.segments.enumerated() {
      segments[index].engineStatus = found
      segments[index].transfers = []
    }
    for transfer in status.transfers { segments[transfer.segment].transfers.append(transfer) }
    for index in segments.indices {
      let segment = segments[index]
      segments[index].pace.addSample(segment.fraction, segment.receivedBytes, at: now.uptime)
    }
    pace.addSample(fraction, receivedBytes, at: now.uptime)
  }

  var settled: Int {
    segments.reduce(0) { $0 + min($1.settled, $1.discovered ?? 0) }
  }

  var discovered: Int {
    segments.reduce(0) { $0 + ($1.discovered ?? 0) }
  }

  var receivedBytes: Int64 {
    segments.reduce(0) { $0.addingSaturated($1.receivedBytes) }
  }

  var remaining: Duration? {
    let rests = segments.filter { $0.result == nil }.compactMap(\.remaining)
    return ([pace.remaining].compactMap(\.self) + rests).max()
  }

  /// Fraction done, weighted by segments' bytes, or by items if any segment's bytes are unknown.
  private var fraction: Double {
    let bytes = segments.map { $0.result == nil ? $0.expectedBytes : Double($0.storedBytes) }
    let areKnown = bytes.allSatisfy { $0 != nil } && bytes.contains { $0 ?? 0 > 0 }
    let weights = segments.indices.map { index in
      areKnown ? bytes[index] ?? 0 : max(1, Double(segments[index].discovered ?? 1))
    }
    let whole = weights.reduce(0, +)
    guard whole > 0 else { return 0 }
    return zip(segments, weights).reduce(0) { $0 + $1.0.fraction * $1.1 } / whole
  }
}

extension ProgressState.Segment {
  /// Fraction from 0 to 1; 1 only once the segment has ended.
  var fraction: Double {
    if result != nil { return 1 }
    guard let discovered, discovered > 0 else { return 0 }
    let done: Double
    if let expectedBytes {
      let arrived = arriving.reduce(storedBytes) { $0.addingSaturated($1.advance.position) }
      done = Double(arrived) / expectedBytes
    } else {
      done = arriving.reduce(Double(settled)) { $0 + $1.fraction } / Double(discovered)
    }
    return min(max(done, 0), 0.99)
  }

  private var arriving: [RunStatus.Transfer] { transfers.filter { !$0.isDocument } }

  /// Declared bytes, or an estimate from the known items; nil if none is known.
  fileprivate var expectedBytes: Double? {
    if let declared = engineStatus.expectedBytes { return Double(declared) }
    guard let discovered else { return nil }
    let sizes = arriving.compactMap(\.advance.size)
    let known = sizes.reduce(storedBytes) { $0.addingSaturated($1) }
    let worked = worked + sizes.count
    guard known > 0, worked > 0 else { return nil }
    let rest = max(0, discovered - settled - sizes.count)
    return Double(known) * (1 + Double(rest) / Double(worked))
  }

  /// Time left; at least as long as the bodies in flight take at the present rate.
  var remaining: Duration? {
    let rest = transfers.reduce(Int64(0)) { rest, transfer in
      guard let size = transfer.advance.size else { return rest }
      return rest.addingSaturated(max(0, size - transfer.advance.position))
    }
    guard rest > 0, let rate = pace.rate, rate > 0 else { return pace.remaining }
    let known = Duration.milliseconds(Int64(min(Double(rest) / Double(rate), 359_999) * 1000))
    return max(known, pace.remaining ?? .zero)
  }

  var receivedBytes: Int64 {
    transfers.reduce(endedBytes) { $0.addingSaturated($1.advance.arrived) }
  }
}

extension RunStatus.Transfer {
  var fraction: Double {
    guard let size = advance.size, size > 0 else { return 0 }
    return min(1, Double(advance.position) / Double(size))
  }
}
