import PrefetchCore

/// How far a run is, segment by segment, as a value that facts and looks add up to.
struct ProgressState {
  struct Segment {
    let name: String
    /// Nil before its manifest is known.
    var discovered: Int?
    var settled = 0
    /// Of bodies that came and are stored.
    var storedBytes: Int64 = 0
    /// Of requests that ended.
    var endedBytes: Int64 = 0
    var standing: RunStanding.Segment
    /// Bodies that have been arriving for longer than a moment.
    var transfers: [RunStanding.Transfer] = []
    var ending: SegmentResult?
    var pace = Pace()
  }

  private(set) var segments: [Segment] = []
  /// Of all together.
  private(set) var pace = Pace()
  private var places: [String: Int] = [:]

  mutating func note(_ fact: RunFact) {
    switch fact {
    case .itemsDiscovered(let name, let count):
      change(name) { $0.discovered = ($0.discovered ?? 0) + count }
    case .itemsKept(let name, let count, _, _, _), .itemsConfirmed(let name, let count, _):
      change(name) { $0.settled += count }
    case .itemsArrived(let name, let arrivals):
      change(name) { segment in
        segment.settled += arrivals.count
        for arrival in arrivals { segment.storedBytes += arrival.body.size }
      }
    case .itemSettled(let item):
      guard item.action != .remove else { return }
      let hasCome = item.outcome == .added || item.outcome == .updated
      for name in item.segments {
        change(name) { segment in
          segment.settled += 1
          if hasCome { segment.storedBytes += item.size ?? 0 }
        }
      }
    case .itemShared(_, let name):
      change(name) { $0.settled += 1 }
    case .requestsAnswered(let name, _, _, let bytes):
      change(name) { $0.endedBytes += bytes }
    case .requestFinished(let request):
      for name in request.segments { change(name) { $0.endedBytes += request.wireBytes } }
    case .segmentSettled(let result):
      change(result.name) { $0.ending = result }
    case .conditionsRead, .qualityChanged, .itemsRetained, .itemRetained, .itemsStarted,
      .bytesReceived, .requestTold,
      .requestWaits, .manifestSettled, .listRead, .itemEvicted, .treePublished, .registration,
      .interrupted,
      .storeFailed, .warned:
      break
    }
  }

  private mutating func change(_ name: String, _ change: (inout Segment) -> Void) {
    guard let place = places[name] else { return }
    change(&segments[place])
  }

  mutating func look(at standing: RunStanding, _ now: Moment) {
    if segments.isEmpty {
      segments = standing.segments.map { Segment(name: $0.name, standing: $0) }
      for (place, segment) in segments.enumerated() { places[segment.name] = place }
    }
    for (place, found) in standing.segments.enumerated() {
      segments[place].standing = found
      segments[place].transfers = []
    }
    for transfer in standing.transfers { segments[transfer.segment].transfers.append(transfer) }
    for place in segments.indices {
      let segment = segments[place]
      segments[place].pace.note(segment.fraction, segment.receivedBytes, at: now.uptime)
    }
    pace.note(fraction, receivedBytes, at: now.uptime)
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

  /// As long as the segment that takes longest.
  var remaining: Duration? {
    let rests = segments.filter { $0.ending == nil }.compactMap(\.remaining)
    return ([pace.remaining].compactMap(\.self) + rests).max()
  }

  /// Every item weighs the same here: sizes are not known of all of them.
  private var fraction: Double {
    let whole = segments.reduce(0) { $0 + max(1, Double($1.discovered ?? 1)) }
    guard whole > 0 else { return 0 }
    return segments.reduce(0) { $0 + $1.fraction * max(1, Double($1.discovered ?? 1)) } / whole
  }
}

extension ProgressState.Segment {
  /// From 0 to 1, and 1 only where all is done.
  var fraction: Double {
    if ending != nil { return 1 }
    guard let discovered, discovered > 0 else { return 0 }
    let items = transfers.filter { !$0.isDocument }
    let done: Double
    if let expected = standing.expectedBytes {
      let arrived = items.reduce(storedBytes) { $0.addingSaturated($1.advance.position) }
      done = Double(arrived) / Double(expected)
    } else {
      done = items.reduce(Double(settled)) { $0 + $1.fraction } / Double(discovered)
    }
    return min(max(done, 0), 0.99)
  }

  /// Until all is done; not less than what is known to come takes as fast as it comes now.
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

extension RunStanding.Transfer {
  var fraction: Double {
    guard let size = advance.size, size > 0 else { return 0 }
    return min(1, Double(advance.position) / Double(size))
  }
}
