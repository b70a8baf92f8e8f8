internal import PrefetchCore

/// The requests of one worker for one origin that wait for their turn.
///
/// They wait here rather than in libcurl, which looks at every handle in every round.
struct OriginLine {
  enum Sharing {
    /// No server has answered yet.
    case unknown
    /// HTTP/1.1: one request at a time on a connection.
    case single
    /// HTTP/2 and 3.
    case multiplexed
  }

  private(set) var sharing: Sharing
  /// Whether its requests go over the connections of several pools, which then share in what one
  /// host may get: one request at a time on each connection.
  private(set) var isMixed = false
  private var pool: Int?
  /// Whether HTTP/3 was tried in vain.
  var avoidsHTTP3 = false
  private var connections = 1
  private var streams = 1
  private var waiting: [QueuedRequest?] = []
  private var firstWaiting = 0
  private(set) var activeCount = 0
  private(set) var waitingCount = 0
  /// Whether bodies came over HTTP/2 without a length.
  var hasOpenEnds = false
  /// Whether it waits for what all workers may have on the wire together.
  var isStarved = false

  init(sharing: Sharing) {
    self.sharing = sharing
  }

  mutating func noteAnswer(isTextual: Bool) {
    sharing = isTextual || isMixed ? .single : .multiplexed
  }

  /// `pool` is the number of the one that its connection will be in.
  mutating func enqueue(_ queued: QueuedRequest, pool: Int = 0, goesFirst: Bool = false) {
    if self.pool != pool {
      isMixed = self.pool != nil
      self.pool = pool
      if isMixed { sharing = .single }
    }
    connections = queued.assignment.connections
    streams = queued.assignment.streams
    if goesFirst {
      waiting.insert(queued, at: firstWaiting)
    } else {
      waiting.append(queued)
    }
    waitingCount += 1
  }

  /// The next request that may go out, which then counts as active, and where it stood.
  mutating func next(_ mayStart: (TransferRequest) -> Bool) -> (QueuedRequest, place: Int)? {
    guard hasPlace else { return nil }
    skipTaken()
    for place in firstWaiting..<waiting.count {
      guard let found = waiting[place], mayStart(found.request) else { continue }
      waiting[place] = nil
      waitingCount -= 1
      activeCount += 1
      return (found, place)
    }
    return nil
  }

  /// Undoes the last ``next(_:)``.
  mutating func putBack(_ taken: QueuedRequest, at place: Int) {
    waiting[place] = taken
    firstWaiting = min(firstWaiting, place)
    waitingCount += 1
    activeCount -= 1
  }

  private var hasPlace: Bool {
    waitingCount > 0 && activeCount < (sharing == .multiplexed ? streams : connections)
  }

  private mutating func skipTaken() {
    while firstWaiting < waiting.count, waiting[firstWaiting] == nil {
      firstWaiting += 1
    }
    // A line that never runs empty must not grow.
    guard firstWaiting >= 64, firstWaiting * 2 >= waiting.count else { return }
    waiting.removeSubrange(..<firstWaiting)
    firstWaiting = 0
  }

  /// Takes everything out that is not active yet.
  mutating func removeAll() -> [QueuedRequest] {
    removeAll(where: { _ in true })
  }

  /// Takes those out that are not active yet.
  mutating func removeAll(in ids: Set<TransferID>) -> [QueuedRequest] {
    removeAll(where: { ids.contains($0.request.id) })
  }

  mutating func noteEnd() {
    activeCount -= 1
  }

  /// What the end of a transfer says about HTTP/3.
  enum Lesson: Hashable, Sendable {
    case none
    /// An older version answered in its place.
    case didFallBack
    /// Neither it nor an older version got a connection, and libcurl tells why of the former only.
    case mustTryOlder
  }

  /// Learns from the end of a transfer.
  ///
  /// libcurl falls back where no connection of HTTP/3 can be made. One that breaks later is given up
  /// here, so that the next try goes the older way.
  mutating func noteHTTP3(
    wasTried: Bool,
    isRequested: Bool,
    answer: ResponseHead.Version?,
    failure: ErrorCode?
  ) -> Lesson {
    let isOlder = answer.map { $0 != .http3 } ?? false
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
    for place in waiting.indices {
      guard let queued = waiting[place], isMeant(queued) else { continue }
      waiting[place] = nil
      removed.append(queued)
    }
    waitingCount -= removed.count
    return removed
  }
}
