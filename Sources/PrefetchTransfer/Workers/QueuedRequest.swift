internal import PrefetchCore

/// One request on its way to the wire, and which worker sends it over which connections.
///
/// It goes through many hands, so it is an object: a request is too large to be copied by each.
final class QueuedRequest: Sendable {
  let request: TransferRequest
  let assignment: HostShares.Assignment

  /// What is left for it and others.
  private let allowances: [Locked<Int64>]

  init(
    _ request: TransferRequest,
    _ assignment: HostShares.Assignment,
    allowances: [Locked<Int64>] = []
  ) {
    self.request = request
    self.assignment = assignment
    self.allowances = allowances
  }

  /// Takes bytes from what is left; false where one allowance has no more.
  func spend(_ bytes: Int64) -> Bool {
    var isLeft = true
    for allowance in allowances {
      let rest = allowance.withLock { rest in
        rest -= bytes
        return rest
      }
      isLeft = isLeft && rest >= 0
    }
    return isLeft
  }
}
