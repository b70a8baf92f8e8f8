internal import PrefetchCore

/// One request on its way to the wire, and which worker sends it over which connections.
///
/// It goes through many hands, so it is an object: a request is too large to be copied by each.
final class QueuedRequest: Sendable {
  let request: TransferRequest
  let assignment: HostShares.Assignment

  /// What is left for it and others.
  let allowances: [Locked<Int64>]
  /// Nil for a request that is sent for the first time.
  let repetition: Repetition?

  /// How a request differs from what was sent before for it, without the loop's knowledge.
  final class Repetition: Sendable {
    enum Way: Sendable {
      case asBefore
      /// Over HTTP/1.1, which marks the end of every body.
      case overHTTP1
      /// Over HTTP/2, since HTTP/1.1 was refused.
      case overHTTP2(refusal: Failure)
    }

    let way: Way
    /// Whether it makes a connection of its own.
    let isOnFreshConnection: Bool
    /// Requests that went out before.
    let requestCount: Int
    /// Bytes that came in vain.
    let wireBytes: Int64

    init(_ way: Way, isOnFreshConnection: Bool, after figures: TransferFigures) {
      self.way = way
      self.isOnFreshConnection = isOnFreshConnection
      requestCount = figures.requestCount
      wireBytes = figures.wireBytes
    }
  }

  init(
    _ request: TransferRequest,
    _ assignment: HostShares.Assignment,
    allowances: [Locked<Int64>] = [],
    repetition: Repetition? = nil
  ) {
    self.request = request
    self.assignment = assignment
    self.allowances = allowances
    self.repetition = repetition
  }

  /// The same request once more; nil = in the same way.
  func repeated(
    _ way: Repetition.Way? = nil,
    isOnFreshConnection: Bool = false,
    after figures: TransferFigures
  ) -> QueuedRequest {
    let repetition = Repetition(
      way ?? repetition?.way ?? .asBefore,
      isOnFreshConnection: isOnFreshConnection,
      after: figures
    )
    return QueuedRequest(request, assignment, allowances: allowances, repetition: repetition)
  }

  @inline(never)
  var isUpload: Bool {
    switch request.method {
    case .get, .head: false
    case .post, .put: true
    }
  }

  /// Whether an answer without a length would leave open where its body ends.
  var needsKnownEnd: Bool {
    guard case .get = request.method else { return false }
    return request.expectedSize == nil && !request.isPinned && request.url.scheme == .https
  }

  /// Counts bytes that came, and says whether they may be taken.
  ///
  /// What libcurl read together with the bytes that use an allowance up is here already and may be the
  /// end of the body, so it is taken; `overdraft` is how much of that may still follow. Only what is
  /// still to come is refused.
  func mayTake(_ bytes: Int64, overdraft: inout Int64) -> Bool {
    let rests = allowances.map { allowance in
      allowance.withLock { rest in
        rest -= bytes
        return rest
      }
    }
    guard let least = rests.min(), least <= 0 else { return true }
    if least + bytes > 0 {
      overdraft = Int64(EasyHandle.countedBufferSize)
    } else if overdraft < bytes {
      return false
    }
    overdraft -= bytes
    return true
  }
}
