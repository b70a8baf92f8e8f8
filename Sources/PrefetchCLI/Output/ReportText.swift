import PrefetchCore

/// The report for people and cron mails: one line per segment and a total.
struct ReportText {
  let envelope: ReportEnvelope
  /// Width of the terminal; nil keeps lines whole, for programs.
  var columns: Int?

  var lines: [String] {
    let report = envelope.report
    let names = report.segments.map { name($0) }
    let width = names.reduce(5) { max($0, ColumnText.width(of: $1)) }
    let tier = report.tier.flatMap(Self.tier)
    let states = report.segments.map(\.state.rawValue) + [envelope.exit.name]
    let stateWidth = states.reduce(10) { max($0, $1.count) }
    var lines = zip(names, report.segments).flatMap { name, segment in
      row(name, ColumnText.padded(segment.state.rawValue, to: stateWidth), summary(segment), width)
        + (envelope.listsAllItems ? [] : changes(segment))
    }
    if let tier {
      lines += row("tier", ColumnText.padded(tier.word, to: stateWidth), tier.text, width)
    }
    lines += row("total", ColumnText.padded(envelope.exit.name, to: stateWidth), total, width)
    if envelope.listsAllItems { lines += envelope.shownItems.map(itemLine) }
    return lines
  }

  private func name(_ segment: Report.Segment) -> String {
    let name = SafeText.line(envelope.redacted(segment.name))
    return columns.map { ColumnText.shortened(name, to: max(8, $0 / 3)) } ?? name
  }

  private func row(_ name: String, _ word: String, _ text: String, _ width: Int) -> [String] {
    let start = "\(ColumnText.padded(name, to: width))  \(word)  "
    guard let columns else { return [start + text] }
    let margin = ColumnText.width(of: start)
    return ColumnText.wrapped(
      start + text,
      to: columns,
      indent: margin * 2 <= columns ? margin : 4
    )
  }

  private func summary(_ segment: Report.Segment) -> String {
    if let deferral = segment.deferral, segment.totals.items == 0 {
      return Self.wording(of: deferral)
    }
    if let failure = segment.manifest.failure, segment.totals.items == 0 {
      if failure.code == .empty { return "no items, see the error" }
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

  static func tier(_ tier: TierFigures) -> (word: String, text: String)? {
    let bodies = { (count: Int64, bytes: Int64) in
      "\(Amounts.count(count, "body", "bodies")), \(Amounts.bytes(bytes))"
    }
    let given = [
      tier.hits > 0 ? bodies(tier.hits, tier.hitBytes) : nil,
      tier.originResponses > 0
        ? "\(Amounts.count(tier.originResponses, "answer")) of origins" : nil,
    ].compactMap(\.self)
    let gave = given.isEmpty ? nil : "gave \(given.joined(separator: ", and "))"
    let took = tier.written > 0 ? "took \(bodies(tier.written, tier.writtenBytes))" : nil
    let said = [gave, took].compactMap(\.self)
    guard !said.isEmpty else { return nil }
    return (
      word: tier.trouble == nil ? "used" : "trouble",
      text: "\(SafeText.line(tier.host)) \(said.joined(separator: "; "))"
    )
  }

  private func itemLine(_ item: ItemResult) -> String {
    itemLine(item.outcome?.rawValue ?? item.action.rawValue, item.size, item.url)
  }

  private func itemLine(_ word: String, _ size: Int64?, _ url: String) -> String {
    let bytes = ColumnText.padded(size.map(Amounts.bytes) ?? "-", to: 7)
    let start = "  \(ColumnText.padded(word, to: 9))  \(bytes)  "
    let url = SafeText.line(envelope.redacted(url: url))
    guard let columns else { return start + url }
    return start + ColumnText.shortened(url, to: max(10, columns - start.count))
  }

  private func changes(_ segment: Report.Segment) -> [String] {
    let lines = segment.changes.map { itemLine($0.outcome.rawValue, $0.size, $0.url) }
    let totals = segment.totals
    let rest = totals.fetched + totals.updated + totals.removed - Int64(lines.count)
    guard rest > 0, lines.count == Report.Segment.mostChanges else { return lines }
    return lines + ["  and \(rest) more; see `prefetch log`"]
  }

  /// Returns for example `12 items: 3 fetched, 9 kept`; zeros are omitted.
  static func counts(_ totals: Totals) -> String {
    let parts: [(Int64, String)] = [
      (totals.fetched, "fetched"), (totals.updated, "updated"), (totals.revalidated, "unchanged"),
      (totals.kept, "kept"), (totals.deferred, "deferred"), (totals.failed, "failed"),
      (totals.removed, "removed"), (totals.retained, "retained"),
    ]
    let said = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let items = Amounts.count(totals.items, "item")
    return said.isEmpty ? items : "\(items): \(said.joined(separator: ", "))"
  }

  static func wording(of deferral: Deferral) -> String {
    deferral.text()
  }
}
