import PrefetchCore

/// What a plan comes to, in one line for people.
struct PlanSummary {
  let totals: Totals

  var line: String {
    let parts: [(Int64, String)] = [
      (totals.fetched, "to fetch"), (totals.updated, "to update"),
      (totals.revalidated, "to revalidate"),
      (totals.removed, "to remove"), (totals.deferred, "deferred"), (totals.failed, "would fail"),
      (totals.kept, "kept"),
    ]
    let said = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "plan: \(said.isEmpty ? "nothing to do" : said.joined(separator: ", ")); \(volume)"
  }

  private var volume: String {
    let known = Amounts.bytes(totals.bytesStored)
    guard totals.unknownSizes > 0 else { return known }
    return "\(known) and \(Amounts.count(totals.unknownSizes, "item")) of unknown size"
  }
}
