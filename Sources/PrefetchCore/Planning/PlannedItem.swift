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

  /// Whether the item's history should tell it.
  package var isNews: Bool {
    switch self {
    case .unchanged: false
    case .added, .updated, .headers, .stale, .removed, .deferred, .failed, .redirected: true
    }
  }
}

/// One item with the planner's decision and the facts that made it.
package struct PlannedItem: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    /// Nothing to ask.
    case keep
    /// Ask with the stored validators; the stored body serves until the answer.
    case revalidate
    /// Transfer unconditionally: nothing is stored (`update` false), or what is stored will not do.
    case fetch(isUpdate: Bool)
    case fail(Failure)
  }

  package var entry: ManifestEntry
  package var decision: Decision
  /// For people: `not stored`, `fresh until …`.
  package var reason: String
  package var record: ContentRecord?
  /// Whether the segment holds the record in the index already.
  package var isHeld: Bool

  package init(
    entry: ManifestEntry,
    decision: Decision,
    reason: String,
    record: ContentRecord?,
    isHeld: Bool = false
  ) {
    self.entry = entry
    self.decision = decision
    self.reason = reason
    self.record = record
    self.isHeld = isHeld
  }

  package var action: ItemAction {
    switch decision {
    case .keep: .keep
    case .revalidate: .revalidate
    case .fetch(let isUpdate): isUpdate ? .update : .fetch
    case .fail: .fail
    }
  }
}

/// What one segment needs, in the order of its manifest.
package struct PlanFragment: Sendable {
  package var items: [PlannedItem]
  /// URLs the segment holds in the index and declares no more.
  package var leaving: [String]

  package init(items: [PlannedItem], leaving: [String]) {
    self.items = items
    self.leaving = leaving
  }
}
