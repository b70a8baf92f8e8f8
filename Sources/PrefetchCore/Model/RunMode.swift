extension RunRequest {
  package enum Mode: String, Hashable, Sendable {
    case run
    /// Asks servers and writes nothing.
    case plan
    /// Fetches single items, which belong to no segment.
    case get
    /// Reads the lists of segments, and nothing that they name.
    case lists
  }
}

/// Duties of each mode. No other file compares modes.
///
/// | | run | plan | get | lists |
/// |---|---|---|---|---|
/// | asks for | bodies | heads | bodies | |
/// | writes | all | nothing | bodies and books | nothing |
/// | foretells | | room, budgets | | |
/// | makes trees | yes | looks what is in the way | | |
/// | works for | segments | segments | items | segments |
/// | plans items | yes | yes | yes | no |
/// | ends with | removals | a list of them | | |
extension RunRequest.Mode {
  /// Whether items are requested by HEAD.
  package var probes: Bool { self == .plan }

  /// Whether the report says what a run would do.
  package var foretells: Bool { self == .plan }

  /// Whether anything is written to the store or the state.
  package var writes: Bool { self == .run || self == .get }

  /// Whether anything becomes of what a list names.
  var plansItems: Bool { self != .lists }

  /// Whether segment memberships are written and items removed.
  package var keepsSegments: Bool { self == .run }

  /// Whether trees are published.
  var makesTrees: Bool { self == .run }

  /// Whether items belong to segments.
  package var isOfSegments: Bool { self != .get }

  enum Ending: Hashable, Sendable {
    case removals
    /// The removals that a run would make are reported.
    case toldRemovals
    case nothing
  }

  /// Last step of a run in this mode.
  var ending: Ending {
    switch self {
    case .run: .removals
    case .plan: .toldRemovals
    case .get, .lists: .nothing
    }
  }
}
