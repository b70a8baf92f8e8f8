import PrefetchCore

/// The report as a job summary.
struct ReportMarkdown {
  let envelope: ReportEnvelope

  var text: String {
    let report = envelope.report
    var lines = [
      "## prefetch: \(envelope.exit.name)", "",
      "| segment | state | items | fetched | updated | unchanged | failed | removed | bytes stored |",
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for segment in report.segments {
      lines.append(row(escaped(segment.name), segment.state.rawValue, segment.totals))
    }
    lines.append(row("**total**", envelope.exit.name, report.totals))
    lines += [
      "",
      "\(Amounts.count(report.totals.requests, "request")) in \(Amounts.duration(report.elapsed)).",
    ]
    let failures = ReportFailures(envelope: envelope).all
    if !failures.isEmpty {
      lines += ["", "### Failures", ""]
      lines += failures.map {
        "- `\(MarkupText.markdownCode($0.subject))`: \(escaped($0.message)) (`\($0.code)`)"
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func row(_ name: String, _ state: String, _ totals: Totals) -> String {
    let numbers = [
      totals.items, totals.fetched, totals.updated, totals.kept + totals.revalidated, totals.failed,
      totals.removed,
    ]
    let cells =
      [name, state] + numbers.map(String.init) + [Amounts.bytes(totals.bytesStored)]
    return "| \(cells.joined(separator: " | ")) |"
  }

  private func escaped(_ text: String) -> String {
    MarkupText.markdown(envelope.redacted(text))
  }
}
