import PrefetchCore

/// The report as a textfile for a metrics collector.
struct ReportPrometheus {
  let envelope: ReportEnvelope

  var text: String {
    let report = envelope.report
    var lines: [String] = []
    gauge(
      "prefetch_run_timestamp_seconds",
      "When the last run ended",
      [("", report.finished.seconds)],
      &lines
    )
    gauge(
      "prefetch_run_exit_code",
      "What the last run ended with",
      [("", Int64(envelope.exitCode))],
      &lines
    )
    gauge(
      "prefetch_run_duration_milliseconds",
      "How long the last run took",
      [("", report.elapsed.milliseconds)],
      &lines
    )
    gauge(
      "prefetch_run_requests",
      "Requests sent by the last run",
      [("", report.totals.requests)],
      &lines
    )
    gauge(
      "prefetch_run_wire_bytes",
      "Bytes received by the last run",
      [("", report.totals.bytesWire)],
      &lines
    )
    let items = report.segments.flatMap { segment in
      Self.kinds.map { kind in
        (
          "{segment=\"\(escaped(segment.name))\",action=\"\(kind.name)\"}",
          segment.totals[keyPath: kind.total]
        )
      }
    }
    gauge("prefetch_segment_items", "Items of the last run by what was done", items, &lines)
    let states = report.segments.map { segment in
      (
        "{segment=\"\(escaped(segment.name))\"}",
        segment.state == .current ? Int64(1) : 0
      )
    }
    gauge("prefetch_segment_current", "Whether the segment is as declared", states, &lines)
    return lines.joined(separator: "\n") + "\n"
  }

  private func gauge(
    _ name: String,
    _ help: String,
    _ samples: [(String, Int64)],
    _ lines: inout [String]
  ) {
    lines += ["# HELP \(name) \(help)", "# TYPE \(name) gauge"]
    lines += samples.map { "\(name)\($0.0) \($0.1)" }
  }

  private func escaped(_ text: String) -> String {
    MarkupText.label(envelope.redacted(text))
  }

  private struct Kind: Sendable {
    var name: String
    var total: any KeyPath<Totals, Int64> & Sendable
  }

  private static let kinds: [Kind] = [
    Kind(name: "kept", total: \.kept),
    Kind(name: "revalidated", total: \.revalidated),
    Kind(name: "fetched", total: \.fetched),
    Kind(name: "updated", total: \.updated),
    Kind(name: "deferred", total: \.deferred),
    Kind(name: "failed", total: \.failed),
    Kind(name: "removed", total: \.removed),
  ]
}
