import PrefetchCore

struct PlanSummary {
  private let totals: Totals
  /// Manifests that would fail, and ones still deferred.
  private let failedManifests: Int
  private let deferredManifests: Int
  private let driftCount: Int

  init(report: Report) {
    totals = report.totals
    failedManifests = report.segments.count { $0.manifest.failure != nil }
    driftCount = report.segments.reduce(0) { $0 + $1.manifest.drift.count }
    deferredManifests = report.segments.count {
      $0.deferral != nil && $0.manifest.status == .skipped
    }
  }

  var line: String {
    let parts: [(Int64, String)] = [
      (totals.fetched, "to fetch"), (totals.updated, "to update"),
      (totals.revalidated, "to revalidate"),
      (totals.removed, "to remove"), (totals.deferred, "deferred"), (totals.failed, "would fail"),
      (totals.kept, "kept"), (totals.retained, "retained"),
    ]
    let manifests = [(deferredManifests, "deferred"), (failedManifests, "would fail")]
    let said =
      manifests.filter { $0.0 > 0 }
      .map { "\(Amounts.count(Int64($0.0), "manifest")) \($0.1)" }
      + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "plan: \(said.isEmpty ? "nothing to do" : said.joined(separator: ", ")); \(volume)"
      + (driftCount > 0
        ? "; \(Amounts.count(Int64(driftCount), "item")) drifted from the lock" : "")
  }

  private var volume: String {
    let known = Amounts.bytes(totals.bytesStored)
    guard totals.unknownSizes > 0 else { return known }
    return "\(known) and \(Amounts.count(totals.unknownSizes, "item")) without a size"
  }
}
