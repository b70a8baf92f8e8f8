import PrefetchCore

/// Requests on the run's time line, with their phases; only the longest if there are many.
struct HTMLTransfers {
  let envelope: ReportEnvelope
  let log: TransferLog
  private let entries: [TransferLog.Transfer]
  /// Time that the full width represents.
  private let length: Duration

  private static let mostSlow = 10
  private static let width = 1000.0
  /// Width at which even an instant is visible.
  private static let leastWidth = 3.0

  init(envelope: ReportEnvelope, log: TransferLog) {
    self.envelope = envelope
    self.log = log
    entries = log.entries
    length = max(envelope.report.elapsed, entries.map(\.end).max() ?? .zero, .microseconds(1))
  }

  private var text: HTMLText { HTMLText(envelope: envelope) }

  // MARK: Waterfall

  var waterfall: [String] {
    let legend =
      TransferPhases.Phase.allCases.map { ($0.rawValue, $0.name) } + [("failed", "failed")]
    return ["<ul class=\"legend\">"]
      + legend.map { shape, name in
        "<li><svg viewBox=\"0 0 9 9\" aria-hidden=\"true\"><rect class=\"\(shape)\" width=\"9\" height=\"9\"/></svg>\(name)</li>"
      } + [
        "</ul>",
        "<table role=\"table\" class=\"waterfall\">", "<caption>\(caption)</caption>",
        "<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">request</th>"
          + "<th role=\"columnheader\" scope=\"col\">when\(axis)</th></tr></thead>",
        "<tbody role=\"rowgroup\">",
      ] + entries.map(row) + ["</tbody></table>"]
  }

  private var caption: String {
    let rest = log.count - entries.count
    let all = Amounts.count(Int64(log.count), "request")
    guard rest > 0 else {
      let unsent = entries.count { !$0.request.figures.wasSent }
      let lost = unsent > 0 ? ", \(unsent) of them without a connection" : ""
      return "\(all)\(lost), in the order in which they began"
    }
    return "The \(entries.count) of \(all) that took longest, in the order in which they began; "
      + "\(rest) are left out"
  }

  private var axis: String {
    let ticks = (0...4).map { "<span>\(HTMLText.span(length * $0 / 4))</span>" }
    return "<span class=\"axis\" aria-hidden=\"true\">\(ticks.joined())</span>"
  }

  private func row(_ entry: TransferLog.Transfer) -> String {
    """
    <tr role="row"><th role="rowheader" scope="row">\(name(entry))\
    <span class="about">\(about(entry))</span></th><td role="cell">\(bar(entry))</td></tr>
    """
  }

  private func name(_ entry: TransferLog.Transfer) -> String {
    guard let url = entry.request.url else { return "an unknown address" }
    return text.url(url.string)
  }

  private func about(_ entry: TransferLog.Transfer) -> String {
    let request = entry.request
    var words = [response(request)]
    if request.isRetry { words.append("a retry") }
    if request.wireBytes > 0 { words.append(Amounts.bytes(request.wireBytes)) }
    words.append(HTMLText.span(entry.length))
    return words.joined(separator: " · ")
  }

  private func response(_ request: RequestResult) -> String {
    if let status = request.status {
      return status < 400 ? String(status) : "<span class=\"bad\">\(status)</span>"
    }
    return "<span class=\"bad\">\(request.failure?.code.rawValue ?? "no answer")</span>"
  }

  private func bar(_ entry: TransferLog.Transfer) -> String {
    let phases = TransferPhases(entry.request)
    let title = "began at \(HTMLText.span(entry.start)): \(phases.text)"
    var rects = phases.intervals.map { interval in
      rect(
        interval.phase.rawValue,
        from: entry.start + interval.from,
        to: entry.start + interval.to
      )
    }
    if rects.isEmpty { rects = [rect("waiting", from: entry.start, to: entry.end)] }
    if entry.request.status == nil {
      let end = min(offset(of: entry.end), Self.width - 6)
      rects.append(
        "<rect class=\"failed\" x=\"\(Self.coordinate(end))\" width=\"6\" height=\"10\"/>"
      )
    }
    return """
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img"><title>\(title)</title>\
      \(rects.joined())</svg>
      """
  }

  private func rect(_ shape: String, from start: Duration, to end: Duration) -> String {
    let left = min(offset(of: start), Self.width - Self.leastWidth)
    let width = max(offset(of: end) - left, Self.leastWidth)
    return """
      <rect class="\(shape)" x="\(Self.coordinate(left))" width="\(Self.coordinate(width))" height="10"/>
      """
  }

  private func offset(of time: Duration) -> Double {
    Self.width * Double(time.microseconds) / Double(length.microseconds)
  }

  private static func coordinate(_ value: Double) -> String {
    HTMLText.decimal(value, decimals: 1)
  }

  // MARK: The slowest

  private static let columns: [HTMLTable.Column] = [
    .init(title: "request"), .init(title: "answer"), .init(title: "HTTP"),
    .init(title: "DNS", isNumber: true), .init(title: "connect", isNumber: true),
    .init(title: "TLS", isNumber: true), .init(title: "first byte", isNumber: true),
    .init(title: "total", isNumber: true), .init(title: "sent", isNumber: true),
    .init(title: "received", isNumber: true),
  ]

  var slowest: [String] {
    let order = entries.enumerated().sorted { a, b in
      (b.element.length, a.offset) < (a.element.length, b.offset)
    }
    let shown = order.prefix(Self.mostSlow).map(\.element)
    let rest = log.count - shown.count
    return HTMLTable(
      caption: "The slowest first, with the address that they went to"
        + (rest > 0 ? "; \(rest) quicker ones are left out" : ""),
      columns: Self.columns,
      rows: shown.map(cells)
    ).lines
  }

  private func cells(_ entry: TransferLog.Transfer) -> [HTMLTable.Cell] {
    let (request, figures) = (entry.request, entry.request.figures)
    let address =
      figures.remoteAddress.map { "<span class=\"about\">\(text.escaped($0))</span>" } ?? ""
    return [
      HTMLTable.Cell(name(entry) + address), HTMLTable.Cell(response(request)),
      figures.httpVersion.map { HTMLTable.Cell($0) } ?? .nothing,
      span(figures.dns), span(figures.connect), span(figures.tls), span(figures.firstByte),
      span(figures.total), HTMLTable.Cell(bytes: figures.requestBytes ?? 0),
      HTMLTable.Cell(bytes: figures.wireBytes),
    ]
  }

  private func span(_ duration: Duration?) -> HTMLTable.Cell {
    duration.map { HTMLTable.Cell(HTMLText.span($0)) } ?? .nothing
  }
}
