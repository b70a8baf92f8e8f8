/// What a dry run can say only once it knows everything that a run would bring, and in which order.
extension Dispatcher {
  /// Whether an item that would come waits for those before it: together they may use up a budget.
  func awaitsOthers(_ item: Int) -> Bool {
    guard request.mode == .plan, !isForetelling, network?.hasBudgets == true else { return false }
    let result = active[Int(items[item].slot)].result
    switch result.action {
    case .fetch, .update: return result.failure == nil && result.deferral == nil
    case .revalidate, .keep, .remove, .defer, .fail: return false
    }
  }

  /// Settles what waited so, in the order in which a run would ask.
  mutating func foretell(now: Moment, into effects: inout [Effect]) {
    guard !foretold.isEmpty, !hasOpenWork, readingCount == 0, network?.isReading != true else {
      return
    }
    let order = foretold.sorted { rank(of: $0) < rank(of: $1) }
    foretold = []
    isForetelling = true
    for item in order {
      let work = active[Int(items[item].slot)]
      let kept = start.partials[work.entry.url.string]?.offset ?? 0
      let rest = work.result.size.map { max(0, $0 - kept) }
      if halt == nil, let rest,
        let deferral = network?.foretell(rest, of: Int(items[item].segment), at: now)
      {
        settleDeferred(item, deferral, into: &effects)
      } else {
        settleItem(item, into: &effects)
      }
    }
    isForetelling = false
  }

  private func rank(of item: Int) -> (Int, UInt32, UInt32) {
    let segment = items[item].segment
    return (segments[Int(segment)].priority ?? 101, segment, items[item].position)
  }
}
