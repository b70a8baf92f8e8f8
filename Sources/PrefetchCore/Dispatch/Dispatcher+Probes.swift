/// What a dry run learns from one HEAD.
extension Dispatcher {
  mutating func probeAnswered(
    _ item: Int,
    _ response: TransferResponse,
    into effects: inout [Effect]
  ) {
    let record = items[item].planned.record
    switch response.status {
    case 304 where items[item].exchange?.isConditional == true:
      keep(item, "the server says unchanged")
    case 200, 203:
      let told = Validators(
        entityTag: response.headers["ETag"],
        lastModified: response.headers["Last-Modified"]
      )
      if items[item].planned.decision == .revalidate, let record, !told.isEmpty,
        told == record.validators
      {
        // Some servers answer every HEAD in full; equal validators say the same as a 304.
        keep(item, "the server's validators are unchanged")
      } else {
        announceSize(item, response)
      }
    case 404, 410:
      let failure = Failure(.gone, "the server answered \(response.status)")
      items[item].result.action = .fail
      items[item].result.outcome = .failed
      items[item].result.failure = failure
      items[item].result.reason = failure.message
    default:
      items[item].result.reason += "; the server answered \(response.status) to HEAD"
    }
    settleItem(item, into: &effects)
  }

  /// A probe that got no answer leaves the plan as it was.
  mutating func probeFailed(_ item: Int, _ failure: Failure, into effects: inout [Effect]) {
    if failure.code.category == .trust {
      items[item].result.action = .fail
      items[item].result.outcome = .failed
      items[item].result.failure = failure
      items[item].result.reason = failure.message
    } else {
      items[item].result.reason += "; probe failed: \(failure.message)"
    }
    settleItem(item, into: &effects)
  }

  private mutating func keep(_ item: Int, _ reason: String) {
    items[item].result.action = .keep
    items[item].result.outcome = .unchanged
    items[item].result.source = .revalidated
    items[item].result.reason = reason
  }

  /// What was to be fetched anyway keeps the planner's reason.
  private mutating func announceSize(_ item: Int, _ response: TransferResponse) {
    if items[item].planned.decision == .revalidate {
      items[item].result.action = .update
      items[item].result.reason = "the server says changed"
    }
    let isCoded = response.headers["Content-Encoding"] != nil
    items[item].result.size =
      isCoded
      ? items[item].entry.size
      : response.headers["Content-Length"].flatMap { Int64($0) } ?? items[item].entry.size
  }
}
