/// What a run does about an item.
package enum ItemAction: String, Hashable, Sendable, CaseIterable {
  case fetch
  case update
  case revalidate
  case keep
  case remove
  case `defer`
  case fail
}

/// What came of it.
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
  /// An ad server that has no ad.
  case empty

  /// Whether the item's history should tell it.
  package var isNews: Bool {
    switch self {
    case .unchanged: false
    case .added, .updated, .headers, .stale, .removed, .deferred, .failed, .redirected, .empty: true
    }
  }
}

/// The planner's decision about one entry, small enough to keep a million of them.
package struct PlannedStep: Hashable, Sendable {
  package enum Decision: UInt8, Hashable, Sendable {
    /// Nothing to ask.
    case keep
    /// Nothing to ask, and the manifest says something new about it.
    case describe
    /// Ask with the stored validators; the stored body serves until the answer.
    case revalidate
    /// Transfer unconditionally: nothing is stored.
    case fetch
    /// Transfer unconditionally: what is stored will not do.
    case update
    case fail

    package var action: ItemAction {
      switch self {
      case .keep, .describe: .keep
      case .revalidate: .revalidate
      case .fetch: .fetch
      case .update: .update
      case .fail: .fail
      }
    }
  }

  /// Where the entry stands in its table.
  package var entry: UInt32
  package var decision: Decision
  /// Whether the segment holds the record in the index already.
  package var isHeld: Bool
  /// Whether the record says of it what the manifest does.
  package var isDescribed: Bool
  /// What it is where it consists of several files.
  package var bundle: BundleForm?
  /// The inventory's row, nil where nothing is known.
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

  /// Whether what is stored holds without a question.
  var isKept: Bool {
    decision == .keep || decision == .describe
  }

  /// Whether its server is to be asked.
  var asks: Bool {
    switch decision {
    case .revalidate, .fetch, .update: true
    case .keep, .describe, .fail: false
    }
  }

  /// What is expected to come of it: an answer that cannot be asked about conditionally may well be the
  /// stored one.
  package var action: ItemAction {
    reason == .noValidators ? .revalidate : decision.action
  }
}

/// What one segment needs, in the order of its manifest.
package struct PlanFragment: Sendable {
  /// Everything that is not simply kept; with it too where that was asked for.
  package var steps: [PlannedStep] = []
  /// Entries that are kept and not among the steps.
  package var keptCount = 0
  package var keptBytes = SavedBytes()
  /// Records that are kept and that the segment does not hold yet, by the store's numbers.
  package var joining: [Int64] = []
  /// Entries that are declared now; expired ones are not.
  package var declaredCount = 0
  /// Rows that the segment holds in the index and declares no more.
  package var leaving: [UInt32] = []
  /// Up to when every kept entry stays kept without a question.
  package var quietUntil = Instant.distantFuture

  /// Leaves as they are those items that nothing but their servers would prove.
  mutating func askOnlyPinned(_ isPinned: (Int) -> Bool) {
    for place in steps.indices where steps[place].asks && !isPinned(Int(steps[place].entry)) {
      let mayStand =
        steps[place].decision == .revalidate
        || [.noValidators, .refetchAskedFor].contains(steps[place].reason)
      steps[place].decision = mayStand ? .keep : .fail
      steps[place].reason = .untrustedList
    }
  }
}
