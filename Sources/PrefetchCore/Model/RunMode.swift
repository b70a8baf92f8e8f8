extension RunRequest {
  package enum Mode: String, Hashable, Sendable {
    case run
    /// Sends requests, for items by HEAD, and writes nothing.
    case plan
    /// Fetches single items, which belong to no segment.
    case get
    /// Reads the lists of segments, and none of their items.
    case lists
  }
}

/// Duties of each mode. No other file compares modes.
///
/// | | run | plan | get | lists |
/// |---|---|---|---|---|
/// | asks for | bodies | heads | bodies | |
/// | writes | all | nothing | bodies and records | nothing |
/// | predicts | | room, budgets | | |
/// | makes trees | yes | looks what is in the way | | |
/// | works for | segments | segments | items | segments |
/// | plans items | yes | yes | yes | no |
/// | ends with | removals | predicted removals | | |
extension RunRequest.Mode {
  package var probes: Bool { self == .plan }

  package var predicts: Bool { self == .plan }

  package var writes: Bool { self == .run || self == .get }

  var plansItems: Bool { self != .lists }

  /// Whether the run writes segment memberships and removes items.
  package var keepsSegments: Bool { self == .run }

  /// Whether trees are published.
  var makesTrees: Bool { self == .run }

  package var isOfSegments: Bool { self != .get }

  enum FinalStep: Hashable, Sendable {
    case removals
    /// Removals that a run would make are only reported.
    case reportedRemovals
    case nothing
  }

  var finalStep: FinalStep {
    switch self {
    case .run: .removals
    case .plan: .reportedRemovals
    case .get, .lists: .nothing
    }
  }
}
