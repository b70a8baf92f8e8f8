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
extension RunRequest.Mode {
  package var probes: Bool { self == .plan }

  package var predicts: Bool { self == .plan }

  package var writes: Bool { self == .run || self == .get }

  var plansItems: Bool { self != .lists }

  package var keepsSegments: Bool { self == .run }

  var makesTrees: Bool { self == .run }

  package var isOfSegments: Bool { self != .get }

  enum FinalStep: Hashable, Sendable {
    case removals
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
