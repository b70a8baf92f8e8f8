/// What a dry run learns from one HEAD.
extension Dispatcher {
  mutating func probeAnswered(
    _ item: Int,
    _ response: TransferResponse,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    let record = active[slot].record?.value
    let selecting = selecting(item, response)
    if givesWay(item, response, by: selecting, into: &effects) { return }
    separateRivals(item, by: selecting, into: &effects)
    switch response.status {
    case 304 where active[slot].exchange?.value.isConditional == true:
      keep(item, "the server says unchanged")
    case 200, 203:
      let told = Validators(response.headers)
      // Tags of another place say nothing of what came from here.
      let isSamePlace = active[slot].exchange?.value.hop.string == record?.finalURL ?? record?.url
      if items[item].step.decision == .revalidate, let record, !told.isEmpty, isSamePlace,
        told == record.validators
      {
        // Some servers answer every HEAD in full; equal validators say the same as a 304.
        keep(item, "the server's validators are unchanged")
      } else {
        let isOther = !told.isEmpty && told != record?.validators
        announceSize(item, response, isComparable: isSamePlace || isOther)
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

  /// What could not be asked would fail as well, unless an older copy may stand in; what only a HEAD
  /// was refused leaves the plan as it was.
  mutating func probeFailed(
    _ item: Int,
    _ failure: Failure,
    status: Int?,
    now: Moment,
    into effects: inout [Effect]
  ) {
    if serveStale(item, failure, status: status, now: now, into: &effects) { return }
    let slot = Int(items[item].slot)
    switch failure.code.category {
    case .trust, .connectivity, .denied:
      active[slot].result.action = .fail
      active[slot].result.outcome = .failed
      active[slot].result.failure = failure
      active[slot].result.reason = failure.message
    case .io, .content:
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
  private mutating func announceSize(
    _ item: Int,
    _ response: TransferResponse,
    isComparable: Bool
  ) {
    let slot = Int(items[item].slot)
    let isCoded = response.headers["Content-Encoding"] != nil
    let told = isCoded ? nil : response.headers["Content-Length"].flatMap { Int64($0) }
    let isDoubtful = items[item].step.reason == .noValidators || !isComparable
    if active[slot].result.action == .revalidate {
      if !isDoubtful {
        active[slot].result.action = .update
        active[slot].result.reason = "the server says changed"
      } else if let told, told != active[slot].result.size {
        active[slot].result.action = .update
        active[slot].result.reason = "the server says another size"
      } else if !isComparable {
        active[slot].result.reason = "another place answers than before"
      }
    }
    active[slot].result.size = told ?? active[slot].entry.size
  }
}
