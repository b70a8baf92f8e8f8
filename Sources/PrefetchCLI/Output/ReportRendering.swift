import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

enum ReportRendering {
  /// Writes a report; `previous` are the samples of the target file.
  static func write<Fault>(
    _ envelope: ReportEnvelope,
    as format: ReportFormat,
    previous: WrittenMetrics = WrittenMetrics(),
    to sink: (RawSpan) throws(Fault) -> Void
  ) throws(Fault) {
    let text: String
    switch format {
    case .json: return try ReportJSON(envelope: envelope).write(to: sink)
    case .ndjson: return try ReportJSON(envelope: envelope).writeLines(to: sink)
    case .text: text = self.text(envelope).joined(separator: "\n") + "\n"
    case .md: text = ReportMarkdown(envelope: envelope).text
    case .junit: text = ReportJUnit(envelope: envelope).text
    case .prometheus: text = ReportPrometheus(envelope: envelope, previous: previous).text
    case .html: text = ReportHTML(envelope: envelope).text
    }
    unsafe try sink(Array(text.utf8).span.bytes)
  }

  static func namesItems(_ format: ReportFormat, isPlan: Bool, listsAllItems: Bool) -> Bool {
    switch format {
    case .prometheus: false
    case .text: listsAllItems
    // Names failures only, except for plans, which keep failures with the other items.
    case .md, .html: isPlan
    case .json, .ndjson, .junit: true
    }
  }

  /// Returns the text; errors of a run go to stderr instead.
  private static func text(_ envelope: ReportEnvelope) -> [String] {
    let errors = envelope.beginning == .failed ? envelope.errors : []
    return errors.map { "error: \(SafeText.line(envelope.redacted($0.message)))" }
      + ReportText(envelope: envelope).lines
  }
}
