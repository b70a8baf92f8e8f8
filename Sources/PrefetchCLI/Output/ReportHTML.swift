import PrefetchCore

/// The report as one page that needs nothing else.
struct ReportHTML {
  let envelope: ReportEnvelope

  var text: String {
    let report = envelope.report
    var lines = [
      "<!doctype html>", "<html lang=\"en\">", "<meta charset=\"utf-8\">",
      "<title>prefetch: \(envelope.exit.name)</title>",
      "<style>body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left}"
        + "tr:nth-child(even){background:#f4f4f4}.failed,.incomplete{color:#b00}</style>",
      "<h1>prefetch: \(envelope.exit.name)</h1>",
      "<p>\(Timestamp.format(report.finished)), \(escaped(envelope.host)), \(Amounts.duration(report.elapsed))</p>",
      "<table>", "<tr><th>segment<th>state<th>items<th>stored",
    ]
    for segment in report.segments {
      lines.append(
        "<tr class=\"\(segment.state.rawValue)\"><td>\(escaped(segment.name))<td>\(segment.state.rawValue)"
          + "<td>\(ReportText.counts(segment.totals))<td>\(Amounts.bytes(segment.totals.bytesStored))"
      )
    }
    lines.append("</table>")
    let failures = ReportFailures(envelope: envelope).all
    if !failures.isEmpty {
      lines += ["<h2>Failures</h2>", "<ul>"]
      lines += failures.map {
        "<li><code>\(escaped($0.subject))</code>: \(escaped($0.message)) (<code>\($0.code)</code>)"
      }
      lines.append("</ul>")
    }
    lines.append("</html>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func escaped(_ text: String) -> String {
    MarkupText.escaped(envelope.redacted(text))
  }
}
