import PrefetchCore
import Testing

@testable import PrefetchCLI

@Suite("The textfile for metrics")
struct MetricsTests {
  private static let success = "prefetch_last_success_timestamp_seconds"

  private func text(
    _ envelope: ReportEnvelope,
    after previous: String = ""
  ) -> String {
    ReportPrometheus(envelope: envelope, previous: WrittenMetrics(previous)).text
  }

  private func envelope(
    named name: String = "basics",
    exit: PrefetchCore.ExitStatus? = nil,
    beginning: ReportEnvelope.Beginning = .made
  ) -> ReportEnvelope {
    var envelope = ReportFixture(own: name).envelope
    if let exit { (envelope.exit, envelope.exitCode) = (exit, exit.code) }
    envelope.beginning = beginning
    return envelope
  }

  /// Returns the samples without comments, by the text before their value.
  private func samples(_ text: String) -> [String: String] {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let pairs = lines.map { line in
      let blank = line.lastIndex(of: " ") ?? line.startIndex
      return (String(line[..<blank]), String(line[blank...].dropFirst()))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  private func value(_ name: String, in text: String) -> String? {
    samples(text).first { $0.key.hasPrefix("\(name){") }?.value
  }

  @Test("Every sample carries the configuration, and every metric is in base units")
  func labels() {
    let text = text(envelope())
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      #expect(line.contains("{configuration=\"/etc/basics/prefetch.yaml\""))
    }
    #expect(!text.contains("milli"))
    #expect(value("prefetch_last_run_duration_seconds", in: text) == "2.345")
  }

  @Test(
    "The last success is the time of a run that ended well, and a failed run keeps the one before"
  )
  func lastSuccess() {
    let failed = text(envelope())
    #expect(value(Self.success, in: failed) == "0")
    let good = text(envelope(exit: .ok), after: failed)
    let finished = value("prefetch_last_run_timestamp_seconds", in: good)
    #expect(finished == "1795150802.345" && value(Self.success, in: good) == finished)
    var later = envelope()
    later.report.finished = later.report.finished + .seconds(3600)
    #expect(value(Self.success, in: text(later, after: good)) == finished)
    later.lastSuccess = later.report.finished + .seconds(-60)
    #expect(value(Self.success, in: text(later, after: good)) == "1795154342.345")
    #expect(value(Self.success, in: text(later)) == "1795154342.345")
    var plan = envelope(exit: .ok)
    plan.report.mode = .plan
    #expect(value(Self.success, in: text(plan)) == "0", "a plan has done nothing")
  }

  @Test(
    "An attempt without a run changes its own series only",
    arguments: [ReportEnvelope.Beginning.locked, .failed]
  )
  func attempts(beginning: ReportEnvelope.Beginning) {
    let before = text(envelope(exit: .ok))
    var attempt = envelope(named: "other", exit: .config, beginning: beginning)
    attempt.report.segments = []
    attempt.report.finished = attempt.report.finished + .seconds(60)
    attempt.lastSuccess = attempt.report.finished
    let after = text(attempt, after: before)
    let (old, new) = (samples(before), samples(after))
    #expect(Set(old.keys) == Set(new.keys))
    let changed = old.filter { new[$0.key] != $0.value }.keys.map { $0.prefix { $0 != "{" } }
    #expect(
      changed.sorted() == [
        "prefetch_last_attempt_exit_code", "prefetch_last_attempt_timestamp_seconds",
      ]
    )
    let first = text(attempt)
    #expect(samples(first).count == 3 && first.contains("/etc/other/"), "\(first)")
  }

  @Test("Metrics are read back from the file, whatever the configuration's name")
  func escapes() {
    let name = "\u{301}a \"\u{301}b\" \\c {d=\"e\"} 1"
    let before = text(envelope(named: name, exit: .ok))
    let after = text(envelope(named: name, beginning: .locked), after: before)
    #expect(Set(samples(after).keys) == Set(samples(before).keys))
    #expect(value(Self.success, in: after) == value(Self.success, in: before))
  }

  @Test("Foreign or partial lines of a metrics file are not taken over")
  func strangers() {
    let strange = """
      # HELP other Something
      node_load1 3
      prefetch_segment_current{configuration="x
      prefetch_segment_current{configuration="x"} many
      prefetch_segment_current{segment="x"} 1
      prefetch_segment_current{configuration="y",segment="x"} 1
      \(Self.success){configuration="z"} 17
      """
    let written = WrittenMetrics(strange)
    #expect(written.configuration == "y")
    #expect(written.lines(of: "prefetch_segment_current", configuration: "x").isEmpty)
    #expect(written.lines(of: "prefetch_segment_current", configuration: "y").count == 1)
    #expect(written.value(of: Self.success, configuration: "z") == "17")
    #expect(value(Self.success, in: text(envelope(), after: strange)) == "0")
  }
}
