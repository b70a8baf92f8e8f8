import PrefetchCore

/// The report as a person or a cron mail reads it: one line per segment and one total.
struct ReportText {
  let envelope: ReportEnvelope

  var lines: [String] {
    let report = envelope.report
    let names = report.segments.map { SafeText.line(envelope.redacted($0.name)) }
    let width = names.reduce(5) { max($0, $1.count) }
    var lines = zip(names, report.segments).flatMap { name, segment in
      ["\(padded(name, width))  \(padded(segment.state.rawValue, 10))  \(summary(segment))"]
        + (envelope.listsAllItems ? [] : changes(segment))
    }
    lines.append("\(padded("total", width))  \(padded(envelope.exit.name, 10))  \(total)")
    if envelope.listsAllItems { lines += envelope.shownItems.map(itemLine) }
    return lines
  }

  private func summary(_ segment: Report.Segment) -> String {
    if let deferral = segment.deferral, segment.totals.items == 0 {
      return Self.wording(of: deferral)
    }
    if segment.manifest.failure != nil, segment.totals.items == 0 {
      return
        "the manifest was \(segment.manifest.status == .refused ? "refused" : "not read"), see the error"
    }
    if segment.isInterrupted, segment.totals.items == 0 { return "interrupted" }
    let counts = Self.counts(segment.totals)
    return segment.deferral.map { "\(counts); \(Self.wording(of: $0))" } ?? counts
  }

  private var total: String {
    let totals = envelope.report.totals
    let requests = Amounts.count(totals.requests, "request")
    return "\(Self.counts(totals)); \(requests), \(Amounts.bytes(totals.bytesWire)) received, "
      + "\(Amounts.duration(envelope.report.elapsed))"
  }

  private func itemLine(_ item: ItemResult) -> String {
    itemLine(item.outcome?.rawValue ?? item.action.rawValue, item.size, item.url)
  }

  private func itemLine(_ word: String, _ size: Int64?, _ url: String) -> String {
    "  \(padded(word, 9))  \(padded(size.map(Amounts.bytes) ?? "-", 7))  "
      + SafeText.line(envelope.redacted(url: url))
  }

  /// What is new or gone, by name as long as a person reads it.
  private func changes(_ segment: Report.Segment) -> [String] {
    let lines = segment.changes.map { itemLine($0.outcome.rawValue, $0.size, $0.url) }
    let totals = segment.totals
    let rest = totals.fetched + totals.updated + totals.removed - Int64(lines.count)
    guard rest > 0, lines.count == Report.Segment.mostChanges else { return lines }
    return lines + ["  and \(rest) more; the JSON report names them"]
  }

  /// `12 items: 3 fetched, 9 kept`; what is zero is not said.
  static func counts(_ totals: Totals) -> String {
    let parts: [(Int64, String)] = [
      (totals.fetched, "fetched"), (totals.updated, "updated"), (totals.revalidated, "unchanged"),
      (totals.kept, "kept"), (totals.deferred, "deferred"), (totals.failed, "failed"),
      (totals.removed, "removed"),
    ]
    let said = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let items = Amounts.count(totals.items, "item")
    return said.isEmpty ? items : "\(items): \(said.joined(separator: ", "))"
  }

  static func wording(of deferral: Deferral) -> String {
    let until = deferral.until.map { " until \(Timestamp.format($0))" } ?? ""
    return "deferred by \(deferral.rule.rawValue)\(until)"
  }
}

/// Filled with blanks to a width, for columns.
func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
