import PrefetchCore

/// The report as a self-contained page: no script, picture or request.
struct ReportHTML {
  let envelope: ReportEnvelope

  private struct Section {
    var id: String
    var title: String
    var lines: [String]
  }

  var text: String {
    let summary = HTMLSummary(envelope: envelope)
    let sections = sections(summary)
    let links = sections.map { "<li><a href=\"#\($0.id)\">\($0.title)</a></li>" }
    let head = [
      "<!doctype html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"\(HTMLStyle.policy)\">",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
      "<meta name=\"color-scheme\" content=\"light dark\">",
      "<meta name=\"referrer\" content=\"no-referrer\">",
      // Browsers would request a missing icon.
      "<link rel=\"icon\" href=\"data:,\">", "<title>\(summary.title)</title>",
      "<style>\(HTMLStyle.text)</style>", "</head>", "<body>", "<header>",
    ]
    let body = [
      "<nav aria-label=\"Sections\"><ul>\(links.joined())</ul></nav>", "</header>", "<main>",
    ]
    let end = ["</main>", "</body>", "</html>"]
    let lines = head + summary.header + body + sections.flatMap(markup) + end
    return lines.joined(separator: "\n") + "\n"
  }

  private func markup(_ section: Section) -> [String] {
    ["<section id=\"\(section.id)\" aria-labelledby=\"\(section.id)-title\">"]
      + ["<h2 id=\"\(section.id)-title\">\(section.title)</h2>"] + section.lines + ["</section>"]
  }

  private func sections(_ summary: HTMLSummary) -> [Section] {
    let failures = HTMLFailures(envelope: envelope)
    let notices = HTMLNotices(envelope: envelope)
    let history = HTMLHistory(envelope: envelope)
    let transfers = HTMLTransfers(envelope: envelope, log: envelope.transfers)
    let bytes = HTMLBytes(timeline: envelope.transfers.timeline, elapsed: envelope.report.elapsed)
    var sections = [Section(id: "totals", title: "Totals", lines: summary.totals)]
    if !failures.isEmpty {
      sections.append(Section(id: "failures", title: "Failures", lines: failures.lines))
    }
    if !notices.isEmpty {
      sections.append(Section(id: "notices", title: "Notices", lines: notices.lines))
    }
    let segments = HTMLSegments(envelope: envelope).lines
    sections.append(Section(id: "segments", title: "Segments", lines: segments))
    let hasTransfers = envelope.transfers.count > 0
    if !bytes.isEmpty {
      sections.append(Section(id: "bytes", title: "Bytes over time", lines: bytes.lines))
    }
    if hasTransfers {
      sections.append(Section(id: "slowest", title: "The slowest", lines: transfers.slowest))
    }
    if !history.isEmpty {
      sections.append(Section(id: "history", title: "History", lines: history.lines))
    }
    if hasTransfers {
      sections.append(Section(id: "requests", title: "Requests", lines: transfers.waterfall))
    }
    sections.append(Section(id: "run", title: "This run", lines: summary.facts))
    return sections
  }
}
