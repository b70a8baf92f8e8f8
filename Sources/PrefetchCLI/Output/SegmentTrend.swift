import PrefetchCore
import PrefetchDocuments
import PrefetchStore

struct SegmentTrend {
  static let mostRuns = 10

  /// Runs, newest first.
  let runs: [SegmentRun]

  /// Returns `current in 9 of 10 runs`, or how long it has not been; nil without runs.
  var text: String? {
    guard let newest = runs.first else { return nil }
    guard newest.state == .current else {
      let bad = runs.prefix { $0.state != .current }.count
      if bad == 1 { return "\(newest.state.rawValue) in the last run" }
      return "not current for \(bad == Self.mostRuns ? "\(bad) runs or more" : "\(bad) runs")"
    }
    let good = runs.count { $0.state == .current }
    if good < runs.count { return "current in \(good) of \(runs.count) runs" }
    return good == 1 ? "current in the last run" : "current in the last \(good) runs"
  }

  var document: JSONValue {
    .array(
      runs.map { run in
        [
          "run": .string(run.run), "finished": .time(run.finished),
          "state": .string(run.state.rawValue), "items": .integer(run.items),
          "changed": .integer(run.changed), "failed": .integer(run.failed),
        ]
      }
    )
  }
}
