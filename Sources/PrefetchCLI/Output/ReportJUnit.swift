import PrefetchCore

/// The report as JUnit XML: a suite per segment, a case per shown item and per manifest.
struct ReportJUnit {
  let envelope: ReportEnvelope

  var text: String {
    let report = envelope.report
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    let suites = report.segments.map(suite)
    let cases = suites.reduce(0) { $0 + $1.cases }
    let failures = suites.reduce(0) { $0 + $1.failures }
    lines.append(
      "<testsuites name=\"prefetch\" tests=\"\(cases)\" failures=\"\(failures)\" time=\"\(seconds(report.elapsed))\">"
    )
    lines += suites.flatMap(\.lines)
    lines.append("</testsuites>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func suite(_ segment: Report.Segment) -> (lines: [String], cases: Int, failures: Int) {
    let items = envelope.shownItems.filter { $0.segments.contains(segment.name) }
    var failures = segment.manifest.failure == nil ? 0 : 1
    var body = [
      testCase("manifest", segment.manifest.failure, time: nil, skipped: skipped(segment))
    ]
    for item in items {
      failures += item.failure == nil ? 0 : 1
      let url = envelope.redacted(url: item.url)
      let skipped = item.isInterrupted ? item.reason : item.deferral.map(ReportText.wording)
      body.append(testCase(url, item.failure, time: item.figures?.total, skipped: skipped))
    }
    let count = items.count + 1
    let head =
      "  <testsuite name=\"\(escaped(segment.name))\" tests=\"\(count)\" failures=\"\(failures)\">"
    return ([head] + body + ["  </testsuite>"], count, failures)
  }

  private func skipped(_ segment: Report.Segment) -> String? {
    segment.isInterrupted ? "interrupted" : segment.deferral.map(ReportText.wording)
  }

  private func testCase(
    _ name: String,
    _ failure: Failure?,
    time: Duration?,
    skipped: String?
  ) -> String {
    let duration = time.map { " time=\"\(seconds($0))\"" } ?? ""
    let head = "    <testcase name=\"\(escaped(name))\"\(duration)"
    if let failure {
      let message = escaped(failure.message)
      return
        "\(head)><failure type=\"\(failure.code.rawValue)\" message=\"\(message)\"/></testcase>"
    }
    if let skipped {
      return "\(head)><skipped message=\"\(escaped(skipped))\"/></testcase>"
    }
    return "\(head)/>"
  }

  private func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    let fraction = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
  }

  private func escaped(_ text: String) -> String {
    MarkupText.escaped(envelope.redacted(text))
  }
}
