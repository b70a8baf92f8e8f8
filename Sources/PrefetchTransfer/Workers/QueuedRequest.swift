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

  /// Counts bytes that came, and says whether they may be taken.
  ///
  /// What libcurl read together with the bytes that use an allowance up is here already and may be the
  /// end of the body, so it is taken; `overdraft` is how much of that may still follow. Only what is
  /// still to come is refused.
  func mayTake(_ bytes: Int64, overdraft: inout Int64) -> Bool {
    switch spend(bytes) {
    case .isLeft:
      return true
    case .isUsedUp:
      overdraft = Int64(EasyHandle.bufferSize)
    case .wasUsedUp:
      guard overdraft >= bytes else { return false }
    }
    overdraft -= bytes
    return true
  }

  /// What some bytes find of the allowances that they count against.
  private enum Spending {
    case isLeft
    /// With them one of the allowances came to its end.
    case isUsedUp
    /// One of them had come to its end before.
    case wasUsedUp
  }

  private func spend(_ bytes: Int64) -> Spending {
    var result = Spending.isLeft
    for allowance in allowances {
      let rest = allowance.withLock { rest in
        rest -= bytes
        return rest
      }
      guard rest <= 0 else { continue }
      if rest + bytes <= 0 {
        result = .wasUsedUp
      } else if result == .isLeft {
        result = .isUsedUp
      }
    }
    return result
  }
}
