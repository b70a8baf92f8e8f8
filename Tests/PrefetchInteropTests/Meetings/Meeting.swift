import Testing

/// The second half of a meeting: what else the URL, its body and its record are used for.
enum Neighbour: String, Sendable, CaseIterable {
  /// Nothing else: the next run asks, or does not ask, as the server's words have it.
  case freshness
  /// A published tree of hard links, which equals the index after every run.
  case publish
  /// The same made of copies.
  case copies
  /// What `explain` says is what the run then does.
  case explain
  /// What `plan` says is what the run then does.
  case plan
  /// A body that was damaged is named, dropped and fetched again.
  case repair
  /// Tidying up takes away nothing that the next run would miss, and all that none would.
  case collect
  /// `get` asks and brings what the run would.
  case get
  /// A run that is told to fetch everything once more says so to every cache on the way.
  case refetch
  /// Two segments name the URL, which is asked for once.
  case twoSegments = "two segments"
  /// Two segments name the URL, and runs are told of the first alone.
  case selected = "a selected segment"
  /// A run that asks about everything, however fresh.
  case revalidate
  /// Two segments name the URL and send different languages.
  case rivals = "two segments with different headers"
  /// A run that is told to ask no server.
  case offline
  /// A `get` that is told so.
  case getOffline = "get offline"
}

/// One cell of the ring.
struct Meeting: Sendable, CustomTestStringConvertible {
  var happening: Happening
  var neighbour: Neighbour

  init(_ happening: Happening, _ neighbour: Neighbour) {
    self.happening = happening
    self.neighbour = neighbour
  }

  var testDescription: String {
    "\(happening.name) × \(neighbour.rawValue)"
  }
}
