package enum ItemAction: String, Hashable, Sendable, CaseIterable {
  case fetch
  case update
  case revalidate
  case keep
  case remove
  case `defer`
  case fail
}

package enum ItemOutcome: String, Hashable, Sendable, CaseIterable {
  case added
  case updated
  case headers
  case unchanged
  case stale
  case removed
  case deferred
  case failed
  case redirected
  case empty

  package var isNews: Bool {
    switch self {
    case .unchanged: false
    case .added, .updated, .headers, .stale, .removed, .deferred, .failed, .redirected, .empty: true
    }
  }
}

/// Part of an age gate that the answer to a request decides.
package enum AgeCheck: UInt8, Hashable, Sendable {
  /// No gate holds.
  case none
  /// The list says that the body is old enough; only the clock may be wrong.
  case passed
  /// The answer must show that the body is old enough.
  case open
}

/// Planner's decision about one entry; small, since a plan may have a million.
package struct PlannedStep: Hashable, Sendable {
  package enum Decision: UInt8, Hashable, Sendable {
    case keep
    /// Sends no request, but updates the record's description.
    case describe
    case revalidate
    case fetch
    case update
    /// Sends no request, since a rule about the item itself must wait.
    case wait
    case fail

    package var action: ItemAction {
      switch self {
      case .keep, .describe: .keep
      case .revalidate: .revalidate
      case .fetch: .fetch
      case .update: .update
      case .wait: .defer
      case .fail: .fail
      }
    }

    package var needsRequest: Bool {
      switch self {
      case .revalidate, .fetch, .update: true
      case .keep, .describe, .wait, .fail: false
      }
    }
  }

  package var entry: UInt32
  package var decision: Decision
  package var isHeld: Bool
  package var isDescribed: Bool
  package var bundle: BundleForm?
  package var age = AgeCheck.none
  /// Row in the inventory; -1 for none.
  package var row: Int32
  package var reason: PlanReason

  package init(
    entry: Int,
    row: Int?,
    decision: Decision,
    reason: PlanReason,
    isHeld: Bool = false,
    isDescribed: Bool = false
  ) {
    self.entry = UInt32(entry)
    self.row = row.map { Int32($0) } ?? -1
    self.decision = decision
    self.reason = reason
    self.isHeld = isHeld
    self.isDescribed = isDescribed
  }

  package var position: Int? {
    row < 0 ? nil : Int(row)
  }

  var isKept: Bool {
    decision == .keep || decision == .describe
  }

  var needsRequest: Bool { decision.needsRequest }

  /// Whether an age gate decides about the item.
  var isAged: Bool { age != .none || decision == .wait }

  /// Step for the same item without an age gate.
  var withoutAge: PlannedStep {
    var step = self
    step.age = .none
    if decision == .wait {
      step.decision = position == nil ? .fetch : .update
      step.reason = position == nil ? .notStored : .digestDiffers
    }
    return step
  }

  /// Expected action: without validators, a transfer may well return the stored body.
  package var action: ItemAction {
    reason == .noValidators ? .revalidate : decision.action
  }
}

/// Plan of one segment, in manifest order.
package struct PlanFragment: Sendable {
  /// Steps, without kept entries unless these were requested too.
  package var steps: [PlannedStep] = []
  package var keptCount = 0
  package var keptBytes = SavedBytes()
  /// Numbers of the records that are kept and that the segment will newly hold.
  package var joining: [Int64] = []
  package var declaredCount = 0
  package var leaving: [UInt32] = []
  /// Time until which all kept entries need no request.
  package var quietUntil = Instant.distantFuture

  /// Keeps or fails items without a digest, which only their servers could prove.
  mutating func requestOnlyPinned(_ isPinned: (Int) -> Bool) {
    for index in steps.indices where steps[index].needsRequest && !isPinned(Int(steps[index].entry))
    {
      let mayStand =
        steps[index].decision == .revalidate
        || [.noValidators, .refetchRequested].contains(steps[index].reason)
      steps[index].decision = mayStand ? .keep : .fail
      steps[index].reason = .untrustedList
    }
  }
}
