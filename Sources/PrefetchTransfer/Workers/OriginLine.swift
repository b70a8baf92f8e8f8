internal import PrefetchCore

/// Queue of a worker's requests for one origin; in libcurl, they would cost time in every round.
struct OriginLine {
  enum Sharing {
    case unknown
    /// HTTP/1.1: one request at a time on a connection.
    case single
    case multiplexed
  }

  private(set) var sharing: Sharing
  /// Whether several pools share the host's limit, with one request at a time per connection.
  private(set) var isMixed = false
  private var pool: Int?
  var avoidsHTTP3 = false
  private var connections = 1
  private var streams = 1
  private var waiting: [QueuedRequest?] = []
  private var firstWaiting = 0
  private(set) var activeCount = 0
  private(set) var waitingCount = 0
  /// Whether bodies came over HTTP/2 without a length.
  var hasOpenEnds = false
  var isStarved = false

  init(sharing: Sharing) {
    self.sharing = sharing
  }

  mutating func recordResponse(isTextual: Bool) {
    sharing = isTextual || isMixed ? .single : .multiplexed
  }

  mutating func enqueue(_ queued: QueuedRequest, pool: Int = 0, atFront: Bool = false) {
    if self.pool != pool {
      isMixed = self.pool != nil
      self.pool = pool
      if isMixed { sharing = .single }
    }
    connections = queued.assignment.connections
    streams = queued.assignment.streams
    if atFront {
      waiting.insert(queued, at: firstWaiting)
    } else {
      waiting.append(queued)
    }
    waitingCount += 1
  }

  /// Returns the next request that may start, now counted as active, and its place in the queue.
  mutating func next(_ mayStart: (TransferRequest) -> Bool) -> (QueuedRequest, index: Int)? {
    guard mayStartNext else { return nil }
    skipDequeued()
    for index in firstWaiting..<waiting.count {
      guard let found = waiting[index], mayStart(found.request) else { continue }
      waiting[index] = nil
      waitingCount -= 1
      activeCount += 1
      return (found, index)
    }
    return nil
  }

  mutating func putBack(_ queued: QueuedRequest, at index: Int) {
    waiting[index] = queued
    firstWaiting = min(firstWaiting, index)
    waitingCount += 1
    activeCount -= 1
  }

  private var mayStartNext: Bool {
    waitingCount > 0 && activeCount < (sharing == .multiplexed ? streams : connections)
  }

  /// Whether a body may use a further connection, and whether no queued request needs it.
  var hasFreeConnection: Bool { sharing != .multiplexed && activeCount < connections }
  var hasSpareConnection: Bool { hasFreeConnection && waitingCount == 0 }

  /// Counts a connection that fetches a range, which was not queued.
  mutating func recordRange() {
    activeCount += 1
  }

  private mutating func skipDequeued() {
    while firstWaiting < waiting.count, waiting[firstWaiting] == nil {
      firstWaiting += 1
    }
    // A queue that never runs empty must not grow.
    guard firstWaiting >= 64, firstWaiting * 2 >= waiting.count else { return }
    waiting.removeSubrange(..<firstWaiting)
    firstWaiting = 0
  }

  mutating func removeAll() -> [QueuedRequest] {
    removeAll(where: { _ in true })
  }

  mutating func removeAll(in ids: Set<TransferID>) -> [QueuedRequest] {
    removeAll(where: { ids.contains($0.request.id) })
  }

  mutating func recordEnd() {
    activeCount -= 1
  }

  /// Consequence of a transfer's end for HTTP/3.
  enum Lesson: Hashable, Sendable {
    case none
    case didFallBack
    /// No version got a connection, and libcurl's reason is that of HTTP/3 only.
    case mustTryOlder
  }

  /// Learns from a transfer's end, since libcurl falls back only when it cannot connect.
  mutating func recordHTTP3(
    wasTried: Bool,
    isRequested: Bool,
    respondedVersion: ResponseHead.Version?,
    failure: ErrorCode?
  ) -> Lesson {
    let isOlder = respondedVersion.map { $0 != .http3 } ?? false
    if wasTried, isOlder {
      avoidsHTTP3 = true
    } else if wasTried, let failure, Self.losses.contains(failure) {
      avoidsHTTP3 = true
      return isRequested ? .none : .mustTryOlder
    }
    return isOlder && avoidsHTTP3 ? .didFallBack : .none
  }

  private static let losses: Set<ErrorCode> = [.connect, .tls, .reset, .stalled]

  private mutating func removeAll(where isMeant: (QueuedRequest) -> Bool) -> [QueuedRequest] {
    var removed: [QueuedRequest] = []
    for index in waiting.indices {
      guard let queued = waiting[index], isMeant(queued) else { continue }
      waiting[index] = nil
      removed.append(queued)
    }
    waitingCount -= removed.count
    return removed
  }
}
