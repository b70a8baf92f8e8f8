internal import PrefetchCore

/// One request on its way to the wire, and which worker sends it over which connections.
///
/// It goes through many hands, so it is an object: a request is too large to be copied by each.
final class QueuedRequest: Sendable {
  let request: TransferRequest
  let assignment: HostShares.Assignment

  /// What is left for it and others.
  let allowances: [Locked<Int64>]
  let repetition: Repetition

  /// How a request differs from what was sent before for it, without the loop's knowledge.
  struct Repetition: Sendable {
    /// Whether it makes a connection of its own.
    var overFreshConnection = false
    /// Whether it goes over HTTP/1.1, which marks the end of every body.
    var overHTTP1 = false
    /// Why HTTP/1.1 is of no use.
    var http1Refusal: Failure?
    /// Requests that went out, and bytes that came in vain.
    var requestCount = 0
    var wireBytes: Int64 = 0
  }

  init(
    _ request: TransferRequest,
    _ assignment: HostShares.Assignment,
    allowances: [Locked<Int64>] = [],
    repetition: Repetition = Repetition()
  ) {
    self.request = request
    self.assignment = assignment
    self.allowances = allowances
    self.repetition = repetition
  }

  /// The same request once more.
  func repeated(_ repetition: Repetition) -> QueuedRequest {
    QueuedRequest(request, assignment, allowances: allowances, repetition: repetition)
  }

  /// Whether an answer without a length would leave open where its body ends.
  var needsKnownEnd: Bool {
    request.method == .get && request.url.scheme == .https && request.expectedSize == nil
      && !request.isPinned
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
      overdraft = Int64(EasyHandle.bufferSize)
    } else if overdraft < bytes {
      return false
    }
    overdraft -= bytes
    return true
  }
}
