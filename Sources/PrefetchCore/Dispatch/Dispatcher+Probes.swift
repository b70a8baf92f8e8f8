/// What a dry run learns from one HEAD.
extension Dispatcher {
  mutating func probeAnswered(
    _ item: Int,
    _ response: TransferResponse,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    let record = active[slot].record?.value
    switch response.status {
    case 304 where active[slot].exchange?.value.isConditional == true:
      keep(item, "the server says unchanged")
    case 200, 203:
      let told = Validators(response.headers)
      if items[item].step.decision == .revalidate, let record, !told.isEmpty,
        told == record.validators
      {
        // Some servers answer every HEAD in full; equal validators say the same as a 304.
        keep(item, "the server's validators are unchanged")
      } else {
        announceSize(item, response)
      }
    case 404, 410:
      let failure = Failure(.gone, "the server answered \(response.status)")
      active[slot].result.action = .fail
      active[slot].result.outcome = .failed
      active[slot].result.failure = failure
      active[slot].result.reason = failure.message
    default:
      active[slot].result.reason += "; the server answered \(response.status) to HEAD"
    }
    settleItem(item, into: &effects)
  }

  /// A probe that got no answer leaves the plan as it was.
  mutating func probeFailed(_ item: Int, _ failure: Failure, into effects: inout [Effect]) {
    let slot = Int(items[item].slot)
    if failure.code.category == .trust {
      active[slot].result.action = .fail
      active[slot].result.outcome = .failed
      active[slot].result.failure = failure
      active[slot].result.reason = failure.message
    } else {
      active[slot].result.reason += "; probe failed: \(failure.message)"
    }
    settleItem(item, into: &effects)
  }

  private mutating func keep(_ item: Int, _ reason: String) {
    let slot = Int(items[item].slot)
    active[slot].result.action = .keep
    active[slot].result.outcome = .unchanged
    active[slot].result.source = .revalidated
    active[slot].result.reason = reason
  }

  /// What was to be fetched anyway keeps the planner's reason.
  private mutating func announceSize(_ item: Int, _ response: TransferResponse) {
    let slot = Int(items[item].slot)
    if items[item].step.decision == .revalidate {
      active[slot].result.action = .update
      active[slot].result.reason = "the server says changed"
    }
    let isCoded = response.headers["Content-Encoding"] != nil
    let told = isCoded ? nil : response.headers["Content-Length"].flatMap { Int64($0) }
    if items[item].step.reason == .noValidators, let told, told != active[slot].result.size {
      active[slot].result.action = .update
      active[slot].result.reason = "the server says another size"
    }
    active[slot].result.size = told ?? active[slot].entry.size
  }
}
