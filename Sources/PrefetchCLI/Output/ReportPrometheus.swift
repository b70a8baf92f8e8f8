import PrefetchCore

/// The report as a Prometheus textfile in base units.
///
/// A file belongs to one configuration, which labels each sample. An attempt without a run only
/// updates its own time and status; a run of some segments updates only those.
struct ReportPrometheus {
  let envelope: ReportEnvelope
  var previous = WrittenMetrics()

  private struct Family {
    var name: String
    var help: String
  }

  private struct Sample {
    var labels: [(name: String, value: String)] = []
    var value: String
  }

  var text: String {
    var lines: [String] = []
    for (family, samples) in unless(isPartial, attempt) + [lastSuccess] + run {
      var written = samples.map { $0.map { line(family, $0) } } ?? []
      if samples == nil || isPartial {
        let labels = Set(written.map(Self.labels))
        written += previous.lines(of: family.name, configuration: configuration).filter {
          !labels.contains(Self.labels($0))
        }
      }
      guard !written.isEmpty else { continue }
      lines += ["# HELP \(family.name) \(family.help)", "# TYPE \(family.name) gauge"] + written
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Name of the configuration; an unreadable configuration has the file's.
  private var configuration: String {
    let own = escaped(envelope.label)
    return hasRun ? own : previous.configuration ?? own
  }

  private var hasRun: Bool {
    envelope.beginning == .made
  }

  private var isPartial: Bool { envelope.others != nil }

  private static func labels(_ line: String) -> Substring {
    line[..<(line.lastIndex(of: " ") ?? line.endIndex)]
  }

  private func line(_ family: Family, _ sample: Sample) -> String {
    let labels = [("configuration", configuration)] + sample.labels
    let text = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
    return "\(family.name){\(text)} \(sample.value)"
  }

  private func escaped(_ text: String) -> String {
    MarkupText.label(envelope.redacted(text))
  }

  // MARK: Families

  private var attempt: [(Family, [Sample]?)] {
    [
      one(
        "prefetch_last_attempt_timestamp_seconds",
        "When the last attempt at a run ended, whether or not a run came about",
        Self.seconds(envelope.report.finished)
      ),
      one(
        "prefetch_last_attempt_exit_code",
        "What the last attempt at a run ended with",
        String(envelope.exitCode)
      ),
    ]
  }

  /// Time of the last success; 0 if there is none, so that an alarm on its age always works.
  private var lastSuccess: (Family, [Sample]?) {
    let report = envelope.report
    let name = "prefetch_last_success_timestamp_seconds"
    let known = previous.value(of: name, configuration: configuration)
    // An accepted status is no success.
    let isSuccess =
      hasRun && !isPartial && envelope.exitCode == 0 && !envelope.isAccepted
      && report.mode == .run
    let remembered = envelope.lastSuccess.map(Self.seconds)
    // The file lacks successes that were not reported to it, the state lacks old ones.
    let latest =
      hasRun
      ? [known, remembered].compactMap(\.self).max { (Double($0) ?? 0) < (Double($1) ?? 0) }
      : known ?? remembered
    return one(
      name,
      "When a run last ended with 0; 0 where none has",
      isSuccess ? Self.seconds(report.finished) : latest ?? "0"
    )
  }

  /// Metrics of runs; nil samples are kept from the file.
  private var run: [(Family, [Sample]?)] {
    let report = envelope.report
    let numbers = [
      one(
        "prefetch_last_run_timestamp_seconds",
        "When the last run ended",
        Self.seconds(report.finished)
      ),
      one(
        "prefetch_last_run_exit_code",
        "What the last run ended with",
        String(envelope.exitCode)
      ),
      one(
        "prefetch_last_run_duration_seconds",
        "How long the last run took",
        Self.seconds(milliseconds: report.elapsed.milliseconds)
      ),
      one(
        "prefetch_last_run_requests",
        "Requests sent by the last run",
        String(report.totals.requests)
      ),
      one(
        "prefetch_last_run_received_bytes",
        "Bytes received by the last run, headers included",
        String(report.totals.bytesWire)
      ),
      one(
        "prefetch_last_run_stored_bytes",
        "Bytes of bodies that entered the store in the last run",
        String(report.totals.bytesStored)
      ),
      one(
        "prefetch_last_run_saved_bytes",
        "Bytes of bodies that the last run did not have to transfer",
        String(report.totals.bytesSaved)
      ),
    ]
    return unless(!hasRun, unless(isPartial, numbers) + [items, current])
  }

  /// Returns families that keep the file's samples if `stand` is true.
  private func unless(
    _ stand: Bool,
    _ families: [(Family, [Sample]?)]
  ) -> [(Family, [Sample]?)] {
    stand ? families.map { ($0.0, nil) } : families
  }

  private var items: (Family, [Sample]?) {
    let samples = envelope.report.segments.flatMap { segment in
      Self.kinds.map { kind in
        Sample(
          labels: [("segment", escaped(segment.name)), ("action", kind.name)],
          value: String(segment.totals[keyPath: kind.total])
        )
      }
    }
    let help = "Items of the segment by what the last run did about them"
    return (Family(name: "prefetch_segment_items", help: help), samples)
  }

  private var current: (Family, [Sample]?) {
    let samples = envelope.report.segments.map { segment in
      Sample(
        labels: [("segment", escaped(segment.name))],
        value: segment.state == .current ? "1" : "0"
      )
    }
    let help = "Whether the segment was as declared after the last run"
    return (Family(name: "prefetch_segment_current", help: help), samples)
  }

  private func one(_ name: String, _ help: String, _ value: String) -> (Family, [Sample]?) {
    (Family(name: name, help: help), [Sample(value: value)])
  }

  private struct ItemCount: Sendable {
    var name: String
    var total: any KeyPath<Totals, Int64> & Sendable
  }

  private static let kinds: [ItemCount] = [
    ItemCount(name: "kept", total: \.kept),
    ItemCount(name: "revalidated", total: \.revalidated),
    ItemCount(name: "fetched", total: \.fetched),
    ItemCount(name: "updated", total: \.updated),
    ItemCount(name: "deferred", total: \.deferred),
    ItemCount(name: "failed", total: \.failed),
    ItemCount(name: "removed", total: \.removed),
    ItemCount(name: "retained", total: \.retained),
  ]

  // MARK: Numbers

  private static func seconds(_ instant: Instant) -> String {
    seconds(milliseconds: instant.milliseconds)
  }

  private static func seconds(milliseconds: Int64) -> String {
    SecondsText.format(milliseconds: max(0, milliseconds))
  }
}

enum SecondsText {
  static func format(milliseconds: Int64) -> String {
    let fraction = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
  }
}
