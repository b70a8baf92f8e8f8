import PrefetchCore

/// A dry run as tab-separated lines, in the order in which the run would act.
struct PlanLines {
  let envelope: ReportEnvelope

  var lines: [String] {
    let order = Dictionary(
      envelope.report.segments.enumerated().map { ($1.name, ($1.priority ?? 101, $0)) },
      uniquingKeysWith: { first, _ in first }
    )
    let items = envelope.report.items.enumerated().filter {
      envelope.listsAllItems || $0.element.action != .keep
    }
    return items.sorted { a, b in
      rank(a.element, a.offset, order) < rank(b.element, b.offset, order)
    }.map { line($0.element) }
  }

  /// Removals last, then by segment priority, then as the manifest lists them.
  private func rank(
    _ item: ItemResult,
    _ offset: Int,
    _ order: [String: (Int, Int)]
  ) -> (Int, Int, Int, Int) {
    let segment = item.segments.compactMap { order[$0] }.min(by: <) ?? (102, 0)
    return (item.action == .remove ? 1 : 0, segment.0, segment.1, item.position ?? offset)
  }

  private func line(_ item: ItemResult) -> String {
    let fields = [
      item.action.rawValue,
      envelope.redacted(item.segments.joined(separator: ",")),
      item.size.map(String.init) ?? "-",
      // Names and commands further down a pipe need the real URL; only secrets stay out.
      envelope.redacted(Redaction.withoutUserInformation(item.url)),
      item.failure.map { envelope.redacted($0.message) } ?? envelope.redacted(item.reason),
    ]
    return fields.map { SafeText.line($0) }.joined(separator: "\t")
  }

  var summary: String {
    let totals = envelope.report.totals
    let parts: [(Int64, String)] = [
      (totals.fetched, "to fetch"), (totals.updated, "to update"),
      (totals.revalidated, "to revalidate"),
      (totals.removed, "to remove"), (totals.deferred, "deferred"), (totals.failed, "would fail"),
      (totals.kept, "kept"),
    ]
    let said = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let bytes = envelope.report.items.filter { $0.action == .fetch || $0.action == .update }
    let size = bytes.compactMap(\.size).reduce(0, +)
    let unknown = bytes.count { $0.size == nil }
    let volume =
      "\(Amounts.bytes(size))\(unknown > 0 ? " and \(Amounts.count(Int64(unknown), "item")) of unknown size" : "")"
    return "plan: \(said.isEmpty ? "nothing to do" : said.joined(separator: ", ")); \(volume)"
  }
}
