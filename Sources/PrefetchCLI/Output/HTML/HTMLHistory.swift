import PrefetchCore
import PrefetchStore

struct HTMLHistory {
  let envelope: ReportEnvelope
  /// Runs, newest last.
  private let runs: [Run]

  private static let mostRuns = 50

  private struct Run {
    var record: RunRecord
    var figures: [String: Int64]

    subscript(_ name: String) -> Int64 { figures[name] ?? 0 }

    var tone: String {
      ExitStatus(rawValue: Int32(clamping: record.exitCode)).map { HTMLText.tone($0) } ?? "bad"
    }

    var badge: String {
      ExitStatus(rawValue: Int32(clamping: record.exitCode))?.badge ?? record.exitName
    }

    var elapsed: Duration { record.finished - record.started }
  }

  init(envelope: ReportEnvelope) {
    self.envelope = envelope
    runs = envelope.pastRuns.suffix(Self.mostRuns).map { Run(record: $0, figures: $0.figures) }
  }

  var isEmpty: Bool { runs.isEmpty }

  var lines: [String] {
    chart + table.lines
  }

  // MARK: Picture

  private var chart: [String] {
    guard runs.count > 1 else { return [] }
    let most = runs.map { $0["bytes_wire"] }.max() ?? 0
    let label =
      "Bytes that each of \(runs.count) runs received, the oldest first, at most \(Amounts.bytes(most)), "
      + "in the colours of how they ended"
    let bars = runs.enumerated().map { index, run in
      let share = most > 0 ? Double(run["bytes_wire"]) / Double(most) : 0
      let height = max(2, 100 * share)
      let title = "\(run.badge), \(Amounts.bytes(run["bytes_wire"]))"
      return """
        <rect class="\(run.tone)" x="\(10 * index + 1)" width="8" \
        y="\(HTMLText.decimal(104 - height, decimals: 1))" height="\(HTMLText.decimal(height, decimals: 1))">\
        <title>\(HTMLText(envelope: envelope).escaped(title))</title></rect>
        """
    }
    return [
      "<p>\(label).</p>",
      "<svg class=\"plot runs\" viewBox=\"0 0 \(10 * max(runs.count, 30)) 104\" preserveAspectRatio=\"none\" "
        + "role=\"img\" aria-label=\"\(label)\">\(bars.joined())</svg>",
    ]
  }

  // MARK: Table

  private var table: HTMLTable {
    HTMLTable(
      caption: caption,
      columns: [
        .init(title: "began"), .init(title: "ended"), .init(title: "items", isNumber: true),
        .init(title: "fetched", isNumber: true), .init(title: "updated", isNumber: true),
        .init(title: "failed", isNumber: true), .init(title: "requests", isNumber: true),
        .init(title: "received", isNumber: true), .init(title: "took", isNumber: true),
      ],
      rows: runs.reversed().map { run in
        let isThis = run.record.id == envelope.runID
        let text = HTMLText(envelope: envelope)
        return [
          HTMLTable.Cell(HTMLText.time(run.record.started) + (isThis ? ", this run" : "")),
          HTMLTable.Cell(text.escaped(run.badge), tone: "state \(run.tone)"),
          HTMLTable.Cell(run["items"]), HTMLTable.Cell(run["fetched"]),
          HTMLTable.Cell(run["updated"]), HTMLTable.Cell(run["failed"], tone: "bad"),
          HTMLTable.Cell(run["requests"]), HTMLTable.Cell(bytes: run["bytes_wire"]),
          HTMLTable.Cell(HTMLText.span(run.elapsed)),
        ]
      }
    )
  }

  private var caption: String {
    let rest = envelope.pastRuns.count - runs.count
    return "The newest first" + (rest > 0 ? "; \(rest) older ones are left out" : "")
  }
}
