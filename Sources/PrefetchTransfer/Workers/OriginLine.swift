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
  private var waiting: [TransferRequest?] = []
  private var firstWaiting = 0
  private(set) var activeCount = 0

  init(sharing: Sharing) {
    self.sharing = sharing
  }

  mutating func enqueue(_ request: TransferRequest, _ assignment: HostShares.Assignment) {
    connections = assignment.connections
    streams = assignment.streams
    waiting.append(request)
  }

  /// The next request that may go out, which then counts as active.
  mutating func next(_ mayStart: (TransferRequest) -> Bool) -> TransferRequest? {
    let limit = sharing == .multiplexed ? streams : connections
    guard activeCount < limit else { return nil }
    while firstWaiting < waiting.count, waiting[firstWaiting] == nil {
      firstWaiting += 1
    }
    guard firstWaiting < waiting.count else {
      waiting.removeAll(keepingCapacity: true)
      firstWaiting = 0
      return nil
    }
    for index in firstWaiting..<waiting.count {
      guard let request = waiting[index], mayStart(request) else { continue }
      waiting[index] = nil
      activeCount += 1
      return request
    }
    return nil
  }

  mutating func noteEnd() {
    activeCount -= 1
  }

  /// Takes a request out that is not active yet.
  mutating func remove(_ id: TransferID) -> TransferRequest? {
    guard let index = waiting.indices.first(where: { waiting[$0]?.id == id }) else { return nil }
    defer { waiting[index] = nil }
    return waiting[index]
  }
}
