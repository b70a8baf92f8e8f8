extension RunRequest {
  package enum Mode: String, Hashable, Sendable {
    case run
    /// Asks servers and writes nothing.
    case plan
    /// Fetches single items, which belong to no segment.
    case get
  }
}

/// What each kind of run does and leaves undone: nothing else tells them apart.
///
/// | | run | plan | get |
/// |---|---|---|---|
/// | asks for | bodies | heads | bodies |
/// | writes | all | nothing | bodies and books |
/// | foretells | | room, budgets | |
/// | works for | segments | segments | items |
/// | ends with | removals | a list of them | |
extension RunRequest.Mode {
  /// Whether it asks for heads, where a run would ask for bodies.
  package var probes: Bool { self == .plan }

  /// Whether it tells what a run would do.
  package var foretells: Bool { self == .plan }

  /// Whether it leaves anything in the store or in the books.
  package var writes: Bool { self != .plan }

  /// Whether it writes down what segments hold, publishes and removes.
  package var keepsSegments: Bool { self == .run }

  /// Whether items are asked for as those of segments, and not by themselves.
  package var isOfSegments: Bool { self != .get }

  enum Ending: Hashable, Sendable {
    case removals
    /// Those that a run would make are read and told.
    case toldRemovals
    case nothing
  }

  /// What is left to do when all items have ended.
  var ending: Ending {
    switch self {
    case .run: .removals
    case .plan: .toldRemovals
    case .get: .nothing
    }
  }
}
