import PrefetchCore

/// The report as a job summary or comment, short enough for both.
struct ReportMarkdown {
  let envelope: ReportEnvelope

  /// Limit below GitHub's 65,536 characters a comment (1 MiB a summary); longer ones are refused.
  static let mostBytes = 65_000
  /// Limit for segments, which leaves half for failures.
  private static let mostSegmentBytes = 30_000

  var text: String {
    let report = envelope.report
    var page = BoundedLines(limit: Self.mostSegmentBytes)
    page.say(
      "## prefetch: \(envelope.exit.name)",
      "",
      "| segment | state | items | fetched | updated | unchanged | deferred | failed | removed | bytes stored |",
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    let left = page.append(report.segments) {
      row(escaped($0.name), $0.state.rawValue, $0.totals)
    }
    page.limit = Self.mostBytes
    page.say(row("**total**", envelope.exit.name, report.totals))
    let requests = Amounts.count(report.totals.requests, "request")
    page.say("", "\(requests) in \(Amounts.duration(report.elapsed)).")
    if report.staleCount > 0 {
      page.say("\(Amounts.count(Int64(report.staleCount), "item")) served stale.")
    }
    if left > 0 {
      page.say("\(Amounts.count(Int64(left), "more segment")); `--report json=FILE` has all.")
    }
    if envelope.hasTrouble {
      addList("Errors", envelope.errors, in: &page) { "- \(escaped($0.message)) (`\($0.code)`)" }
    }
    addList("Failures", ReportFailures(envelope: envelope).all, in: &page) {
      "- `\(MarkupText.markdownCode($0.subject))`: \(escaped($0.message)) (`\($0.code)`)"
    }
    return page.lines.joined(separator: "\n") + "\n"
  }

  private func addList<Entry>(
    _ title: String,
    _ entries: [Entry],
    in page: inout BoundedLines,
    _ line: (Entry) -> String
  ) {
    guard !entries.isEmpty else { return }
    page.say("", "### \(title)", "")
    let left = page.append(entries, line)
    if left > 0 { page.say("- and \(left) more; `--report json=FILE` has all.") }
  }

  private func row(_ name: String, _ state: String, _ totals: Totals) -> String {
    let numbers = [
      totals.items, totals.fetched, totals.updated, totals.kept + totals.revalidated,
      totals.deferred, totals.failed, totals.removed,
    ]
    let cells =
      [name, state] + numbers.map(String.init) + [Amounts.bytes(totals.bytesStored)]
    return "| \(cells.joined(separator: " | ")) |"
  }

  private func escaped(_ text: String) -> String {
    MarkupText.markdown(envelope.redacted(text))
  }
}

private struct BoundedLines {
  var limit: Int
  private(set) var lines: [String] = []
  private var size = 0

  private static let reserve = 500

  init(limit: Int) {
    self.limit = limit
  }

  mutating func say(_ more: String...) {
    lines += more
    size += more.reduce(0) { $0 + $1.utf8.count + 1 }
  }

  /// Appends as many lines as fit, and returns the number of the rest.
  mutating func append<Entry>(_ entries: [Entry], _ line: (Entry) -> String) -> Int {
    for (index, entry) in entries.enumerated() {
      let text = line(entry)
      guard size + text.utf8.count + 1 <= limit - Self.reserve else { return entries.count - index }
      say(text)
    }
    return 0
  }
}
