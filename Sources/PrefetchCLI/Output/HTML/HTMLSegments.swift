import PrefetchCore

struct HTMLSegments {
  let envelope: ReportEnvelope

  private static let mostRows = 200
  private var text: HTMLText { HTMLText(envelope: envelope) }

  private static let columns: [HTMLTable.Column] = [
    .init(title: "segment"), .init(title: "state"), .init(title: "items", isNumber: true),
    .init(title: "fetched", isNumber: true), .init(title: "updated", isNumber: true),
    .init(title: "unchanged", isNumber: true), .init(title: "kept", isNumber: true),
    .init(title: "deferred", isNumber: true), .init(title: "failed", isNumber: true),
    .init(title: "removed", isNumber: true), .init(title: "received", isNumber: true),
    .init(title: "stored", isNumber: true),
  ]

  /// Segments with trouble come first if not all fit.
  var lines: [String] {
    let segments = envelope.report.segments
    guard !segments.isEmpty || envelope.others?.isEmpty == false else {
      return ["<p class=\"quiet\">No segment was looked at.</p>"]
    }
    let rest = segments.count - Self.mostRows
    let shown =
      rest > 0
      ? segments.filter { $0.state != .current } + segments.filter { $0.state == .current }
      : segments
    let table = HTMLTable(
      caption: Amounts.count(Int64(segments.count), "segment")
        + (rest > 0 ? "; \(rest) of them are left out, those that are current last" : ""),
      columns: Self.columns,
      rows: shown.prefix(Self.mostRows).map(row)
        + (envelope.others ?? []).prefix(Self.mostRows).map(row(left:))
    )
    return table.lines
  }

  private func row(_ segment: Report.Segment) -> [HTMLTable.Cell] {
    let totals = segment.totals
    return [
      HTMLTable.Cell(text.escaped(segment.name) + about(segment)),
      HTMLTable.Cell(segment.state.rawValue, tone: "state \(tone(segment.state))"),
      HTMLTable.Cell(totals.items), HTMLTable.Cell(totals.fetched), HTMLTable.Cell(totals.updated),
      HTMLTable.Cell(totals.revalidated), HTMLTable.Cell(totals.kept),
      HTMLTable.Cell(totals.deferred, tone: "caution"),
      HTMLTable.Cell(totals.failed, tone: "bad"), HTMLTable.Cell(totals.removed),
      HTMLTable.Cell(bytes: totals.bytesWire), HTMLTable.Cell(bytes: totals.bytesStored),
    ]
  }

  private func row(left record: SegmentRecord) -> [HTMLTable.Cell] {
    let time = record.lastChecked.map { " of \(Timestamp.format($0))" } ?? ""
    let about = "<span class=\"about\">not requested; as the run\(time) left it</span>"
    let start = [
      HTMLTable.Cell(text.escaped(record.key.name) + about),
      HTMLTable.Cell(record.state.rawValue, tone: "state \(tone(record.state))"),
      HTMLTable.Cell(Int64(record.itemCount)),
    ]
    return start + Array(repeating: .nothing, count: Self.columns.count - start.count)
  }

  private func about(_ segment: Report.Segment) -> String {
    var words: [String] = []
    if segment.manifest.status != .inline, segment.manifest.status != .skipped {
      words.append("manifest \(segment.manifest.status.rawValue.replacing("_", with: " "))")
    }
    if !segment.isRequired { words.append("not required") }
    if let deferral = segment.deferral { words.append(ReportText.wording(of: deferral)) }
    if segment.isInterrupted { words.append("interrupted") }
    if let tree = segment.tree {
      words.append("published, \(tree.created) made, \(tree.removed) removed")
    }
    guard !words.isEmpty else { return "" }
    return "<span class=\"about\">\(text.escaped(words.joined(separator: "; ")))</span>"
  }

  private func tone(_ state: SegmentState) -> String {
    switch state {
    case .current: "good"
    case .incomplete, .failed: "bad"
    case .deferred: "caution"
    case .unsubscribed: "quiet"
    }
  }
}
