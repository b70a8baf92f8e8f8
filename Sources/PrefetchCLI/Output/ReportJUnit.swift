import PrefetchCore

/// The report as JUnit XML: a suite per segment, a case per shown item and manifest.
///
/// Readers demand different attributes, so all are written; failed cases come first.
struct ReportJUnit {
  let envelope: ReportEnvelope

  /// Limit below GitLab's 30 MB and 250,000 objects; a case makes up to ten.
  static let mostCases = 20_000
  var mostBytes = 24_000_000

  private struct Suite {
    var name: String
    var cases: [Case] = []
    var leftOut = 0
  }

  private struct Case {
    enum Outcome {
      case passed
      case failed
      case erroneous
      case skipped
    }

    var outcome: Outcome
    var line: String
    var duration: Duration?
  }

  var text: String {
    let suites = bounded(
      (envelope.hasTrouble ? [trouble] : []) + envelope.report.segments.map(suite)
    )
    let cases = suites.flatMap(\.cases)
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    lines.append(
      "<testsuites name=\"prefetch\"\(counts(cases)) time=\"\(seconds(envelope.report.elapsed))\">"
    )
    for (number, suite) in suites.enumerated() { lines += rendered(suite, number) }
    lines.append("</testsuites>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func rendered(_ suite: Suite, _ number: Int) -> [String] {
    let name = escaped(suite.name)
    let time = suite.cases.compactMap(\.duration).reduce(.zero, +)
    // UTC without its zone, which one of the schemas forbids.
    let began = Timestamp.format(envelope.report.started).prefix(19)
    let head =
      "  <testsuite id=\"\(number)\" name=\"\(name)\" package=\"prefetch\" timestamp=\"\(began)\""
      + " hostname=\"\(escaped(envelope.host.isEmpty ? "localhost" : envelope.host))\"\(counts(suite.cases))"
      + " skipped=\"\(suite.cases.count { $0.outcome == .skipped })\" time=\"\(seconds(time))\">"
    let rest =
      suite.leftOut > 0
      ? "\(suite.leftOut) more items are left out; see `prefetch log`" : ""
    return [head, "    <properties/>"] + suite.cases.map(\.line) + [
      "    <system-out>\(rest)</system-out>", "    <system-err/>", "  </testsuite>",
    ]
  }

  private func counts(_ cases: [Case]) -> String {
    let failures = cases.count { $0.outcome == .failed }
    let errors = cases.count { $0.outcome == .erroneous }
    return " tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
  }

  private func bounded(_ suites: [Suite]) -> [Suite] {
    var (cases, bytes) = (Self.mostCases, mostBytes)
    var suites = suites
    var kept = suites.map { [Bool](repeating: false, count: $0.cases.count) }
    for isFailure in [true, false] {
      for (suiteIndex, suite) in suites.enumerated() {
        for (index, one) in suite.cases.enumerated()
        where (one.outcome == .failed || one.outcome == .erroneous) == isFailure {
          guard cases > 0, bytes >= one.line.utf8.count else { continue }
          cases -= 1
          bytes -= one.line.utf8.count
          kept[suiteIndex][index] = true
        }
      }
    }
    for suiteIndex in suites.indices where kept[suiteIndex].contains(false) {
      suites[suiteIndex].leftOut = kept[suiteIndex].count { !$0 }
      suites[suiteIndex].cases = zip(suites[suiteIndex].cases, kept[suiteIndex]).filter(\.1).map(
        \.0
      )
    }
    return suites
  }

  // MARK: Cases

  private func suite(_ segment: Report.Segment) -> Suite {
    let waits = segment.isInterrupted ? "interrupted" : segment.deferral.map(ReportText.wording)
    var suite = Suite(name: segment.name)
    suite.cases.append(
      testCase("manifest", of: segment.name, segment.manifest.failure, time: nil, skipped: waits)
    )
    var names: [String: Int] = [:]
    for item in envelope.shownItems where item.segments.contains(segment.name) {
      let url = item.url.isEmpty ? "an entry" : envelope.redacted(url: item.url)
      // Readers need distinct names, and two URLs may look alike once redacted.
      names[url, default: 0] += 1
      let number = names[url] ?? 1
      let skipped = item.isInterrupted ? item.reason : item.deferral.map(ReportText.wording)
      suite.cases.append(
        testCase(
          number > 1 ? "\(url) (\(number))" : url,
          of: segment.name,
          item.failure,
          time: item.figures?.total,
          skipped: skipped
        )
      )
    }
    return suite
  }

  private var trouble: Suite {
    let messages = envelope.errors.map { escaped($0.message) }
    let error =
      "<error type=\"\(envelope.exit.name)\" message=\"\(messages.joined(separator: "; "))\"/>"
    return Suite(
      name: "prefetch",
      cases: [
        Case(outcome: .erroneous, line: Self.line("run", "prefetch", nil, error), duration: nil)
      ]
    )
  }

  private func testCase(
    _ name: String,
    of segment: String,
    _ failure: Failure?,
    time: Duration?,
    skipped: String?
  ) -> Case {
    let (outcome, content): (Case.Outcome, String) =
      if let failure {
        (
          .failed,
          "<failure type=\"\(failure.code.rawValue)\" message=\"\(escaped(failure.message))\"/>"
        )
      } else if let skipped {
        (.skipped, "<skipped message=\"\(escaped(skipped))\"/>")
      } else {
        (.passed, "")
      }
    return Case(
      outcome: outcome,
      line: Self.line(escaped(name), escaped(segment), time, content),
      duration: time
    )
  }

  private static func line(
    _ name: String,
    _ className: String,
    _ time: Duration?,
    _ content: String
  ) -> String {
    let seconds = SecondsText.format(milliseconds: max(0, time?.milliseconds ?? 0))
    let head = "    <testcase classname=\"\(className)\" name=\"\(name)\" time=\"\(seconds)\""
    return content.isEmpty ? "\(head)/>" : "\(head)>\(content)</testcase>"
  }

  private func seconds(_ duration: Duration) -> String {
    SecondsText.format(milliseconds: max(0, duration.milliseconds))
  }

  private func escaped(_ text: String) -> String {
    MarkupText.escaped(envelope.redacted(text))
  }
}
