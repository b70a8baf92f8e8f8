import PrefetchCore

struct HTMLSummary {
  let envelope: ReportEnvelope

  private var report: Report { envelope.report }
  private var text: HTMLText { HTMLText(envelope: envelope) }

  var title: String {
    "prefetch: \(envelope.exit.badge), \(text.escaped(name))"
  }

  private var name: String {
    envelope.label.isEmpty ? envelope.configurationFiles.first ?? "" : envelope.label
  }

  var header: [String] {
    let tone = HTMLText.tone(envelope.exit, isAccepted: envelope.isAccepted)
    let accepted = envelope.isAccepted ? ", accepted: the exit status is \(envelope.exitCode)" : ""
    var lines = [
      "<p class=\"quiet\">prefetch \(modeName) on \(text.escaped(envelope.host))</p>",
      "<h1>\(text.escaped(name))</h1>",
      "<p><strong class=\"verdict \(tone)\">\(envelope.exit.badge)</strong></p>",
      "<p>\(text.prose(envelope.exit.meaning))\(accepted).</p>",
      "<p class=\"quiet\">\(HTMLText.time(report.started)), \(HTMLText.span(report.elapsed))</p>",
    ]
    if let next = envelope.nextAllowedAt {
      lines.append("<p>Next run possible from \(HTMLText.time(next)).</p>")
    }
    return lines
  }

  private var modeName: String {
    switch report.mode {
    case .run: "run"
    case .plan: "dry run"
    case .get: "get"
    case .lists: "reading of lists"
    }
  }

  var totals: [String] {
    let totals = report.totals
    let counts: [(String, Int64, String)] = [
      ("items", totals.items, ""), ("fetched", totals.fetched, ""),
      ("updated", totals.updated, ""), ("unchanged", totals.revalidated, ""),
      ("kept", totals.kept, ""), ("removed", totals.removed, ""),
      ("deferred", totals.deferred, "caution"), ("failed", totals.failed, "bad"),
      ("requests", totals.requests, ""), ("not modified", totals.notModified, ""),
      ("retries", totals.retries, ""),
    ]
    let sizes = [
      ("received", totals.bytesWire), ("stored", totals.bytesStored), ("saved", totals.bytesSaved),
    ]
    return ["<dl class=\"tiles\">"]
      + counts.map { tile($0.0, HTMLText.count($0.1), $0.1 == 0 ? "none" : $0.2) }
      + sizes.map { tile($0.0, Amounts.bytes($0.1), $0.1 == 0 ? "none" : "") } + ["</dl>"]
  }

  private func tile(_ name: String, _ value: String, _ tone: String) -> String {
    "<div\(tone.isEmpty ? "" : " class=\"\(tone)\"")><dt>\(name)</dt><dd>\(value)</dd></div>"
  }

  var facts: [String] {
    let tool = envelope.tool
    let facts: [(String, String)] = [
      ("run", "<code>\(text.escaped(envelope.runID))</code>"),
      ("started", HTMLText.time(report.started)), ("finished", HTMLText.time(report.finished)),
      ("exit status", String(envelope.exitCode)),
      (
        "configuration",
        envelope.configurationFiles.map { text.escaped($0) }.joined(separator: ", ")
      ),
      ("its digest", "<code>\(text.escaped(envelope.configurationDigest() ?? "–"))</code>"),
      (
        "program",
        "prefetch \(ToolVersions.version), libcurl \(text.escaped(tool.libcurl)), SQLite \(text.escaped(tool.sqlite)), OpenSSL \(text.escaped(tool.openssl))"
      ),
    ]
    return ["<dl class=\"facts\">"] + facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" } + ["</dl>"]
  }
}
