import Testing

/// Second half of a combination: another feature that uses the URL, its body and its record.
enum Neighbour: String, Sendable, CaseIterable {
  /// No further feature: the next run follows the server's freshness headers.
  case freshness
  /// Published tree of hard links, which equals the index after every run.
  case publish
  /// Published tree of copies.
  case copies
  /// `explain` predicts what the run does.
  case explain
  /// `plan` predicts what the run does.
  case plan
  /// Damaged body, which is reported, dropped and fetched again.
  case repair
  /// Cleanup, which removes exactly what the next run does not need.
  case collect
  /// `get`, which sends the same requests as a run and returns the same body.
  case get
  /// Run with `--refetch`, which tells every cache on the way.
  case refetch
  /// Two segments with the same URL, which is requested once.
  case twoSegments = "two segments"
  /// Two segments with the same URL in a run of the first one alone.
  case selected = "a selected segment"
  /// Run that revalidates every item, however fresh.
  case revalidate
  /// Two segments with the same URL and different languages.
  case headerConflict = "two segments with different headers"
  /// Run without any request.
  case offline
  /// `get` without any request.
  case getOffline = "get offline"
}

/// A combination of an event and a feature.
struct Meeting: Sendable, CustomTestStringConvertible {
  var scenario: Scenario
  var neighbour: Neighbour

  init(_ scenario: Scenario, _ neighbour: Neighbour) {
    self.scenario = scenario
    self.neighbour = neighbour
  }

  var testDescription: String {
    "\(scenario.name) × \(neighbour.rawValue)"
  }
}
