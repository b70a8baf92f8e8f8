internal import PrefetchCore

/// The requests of one worker for one origin that wait for their turn.
///
/// They wait here rather than in libcurl, which looks at every handle in every round.
struct OriginLine {
  enum Sharing {
    /// Nobody has answered yet.
    case unknown
    /// HTTP/1.1: one request at a time on a connection.
    case single
    /// HTTP/2 and 3.
    case multiplexed
  }

  var sharing: Sharing
  /// Whether an older version answered although HTTP/3 was tried.
  var avoidsHTTP3 = false
  private var connections = 1
  private var streams = 1
  private var waiting: [Waiting?] = []
  private var firstWaiting = 0
  private(set) var activeCount = 0
  private(set) var waitingCount = 0
  /// Whether it waits for what all workers may have on the wire together.
  var isStarved = false

  struct Waiting {
    let request: TransferRequest
    /// How often the host was known to be in trouble when it was handed over.
    let troubles: Int
    fileprivate var position = 0
  }

  init(sharing: Sharing) {
    self.sharing = sharing
  }

  mutating func enqueue(_ request: TransferRequest, _ assignment: HostShares.Assignment) {
    connections = assignment.connections
    streams = assignment.streams
    waiting.append(
      Waiting(request: request, troubles: assignment.troubles, position: waiting.count)
    )
    waitingCount += 1
  }

  /// The next request that may go out, which then counts as active.
  mutating func next(_ mayStart: (TransferRequest) -> Bool) -> Waiting? {
    guard hasPlace else { return nil }
    skipTaken()
    for index in firstWaiting..<waiting.count {
      guard let found = waiting[index], mayStart(found.request) else { continue }
      waiting[index] = nil
      waitingCount -= 1
      activeCount += 1
      return found
    }
    return nil
  }

  /// Undoes the last ``next(_:)``.
  mutating func putBack(_ taken: Waiting) {
    waiting[taken.position] = taken
    firstWaiting = min(firstWaiting, taken.position)
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
    for index in waiting.indices { waiting[index]?.position = index }
    firstWaiting = 0
  }

  /// Takes everything out that is not active yet.
  mutating func removeAll() -> [TransferRequest] {
    defer {
      waiting.removeAll(keepingCapacity: true)
      firstWaiting = 0
      waitingCount = 0
    }
    return waiting.compactMap { $0?.request }
  }

  mutating func noteEnd() {
    activeCount -= 1
  }

  /// Takes a request out that is not active yet.
  mutating func remove(_ id: TransferID) -> TransferRequest? {
    guard let index = waiting.indices.first(where: { waiting[$0]?.request.id == id }) else {
      return nil
    }
    defer {
      waiting[index] = nil
      waitingCount -= 1
    }
    return waiting[index]?.request
  }
}
