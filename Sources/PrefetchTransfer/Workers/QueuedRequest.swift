internal import PrefetchCore

/// A queued request with its worker assignment; an object, since copying requests is expensive.
final class QueuedRequest: Sendable {
  let request: TransferRequest
  let assignment: HostShares.Assignment

  /// Remaining bytes of limits shared with other requests.
  let allowances: [Locked<Int64>]
  /// Changes of a repeated request; nil for a request that is sent for the first time.
  let repetition: Repetition?

  /// Difference of a repeated request from the first; the loop does not see the repetition.
  final class Repetition: Sendable {
    enum Mode: Sendable {
      case asBefore
      /// Over HTTP/1.1, which marks the end of every body.
      case overHTTP1
      /// Over HTTP/2, since the server refused HTTP/1.1.
      case overHTTP2(refusal: Failure)
    }

    let mode: Mode
    let isOnFreshConnection: Bool
    let requestCount: Int
    let wireBytes: Int64

    init(_ mode: Mode, isOnFreshConnection: Bool, after figures: TransferFigures) {
      self.mode = mode
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

  func repeated(
    _ mode: Repetition.Mode? = nil,
    isOnFreshConnection: Bool = false,
    after figures: TransferFigures
  ) -> QueuedRequest {
    let repetition = Repetition(
      mode ?? repetition?.mode ?? .asBefore,
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

  /// Whether the end of the body would be unknown without a length.
  var needsKnownEnd: Bool {
    guard case .get = request.method else { return false }
    return request.expectedSize == nil && !request.isPinned && request.url.scheme == .https
  }

  /// Counts received bytes against the allowances; returns whether they are accepted.
  ///
  /// Up to `overdraft`, bytes that libcurl has already read are accepted: they may end the body.
  func mayAccept(_ bytes: Int64, overdraft: inout Int64) -> Bool {
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
