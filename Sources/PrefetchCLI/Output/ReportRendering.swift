import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

/// A report in any of its formats, ready to be written.
enum ReportRendering {
  /// `previous` is what stands in the file that it is for, as far as a format goes on from that.
  static func bytes(
    _ envelope: ReportEnvelope,
    as format: ReportFormat,
    previous: WrittenMetrics = WrittenMetrics()
  ) -> [UInt8] {
    switch format {
    case .text:
      Array((text(envelope).joined(separator: "\n") + "\n").utf8)
    case .json:
      JSONWriter.bytes(ReportJSON(envelope: envelope).document, form: .pretty) + [
        UInt8(ascii: "\n")
      ]
    case .ndjson:
      lines(envelope)
    case .md:
      Array(ReportMarkdown(envelope: envelope).text.utf8)
    case .junit:
      Array(ReportJUnit(envelope: envelope).text.utf8)
    case .prometheus:
      Array(ReportPrometheus(envelope: envelope, previous: previous).text.utf8)
    case .html:
      Array(ReportHTML(envelope: envelope).text.utf8)
    }
  }

  /// Whether it names items besides those that failed.
  static func namesItems(_ format: ReportFormat, isPlan: Bool, listsAllItems: Bool) -> Bool {
    switch format {
    case .prometheus: false
    case .text: listsAllItems
    // Of items they tell failures only; those of a plan are kept with all others.
    case .md, .html: isPlan
    case .json, .ndjson, .junit: true
    }
  }

  /// Of a run, what went wrong is told on the other stream.
  private static func text(_ envelope: ReportEnvelope) -> [String] {
    let errors = envelope.beginning == .failed ? envelope.errors : []
    return errors.map { "error: \(SafeText.line(envelope.redacted($0.message)))" }
      + ReportText(envelope: envelope).lines
  }

  /// The document without its items on the first line, then one item a line.
  private static func lines(_ envelope: ReportEnvelope) -> [UInt8] {
    let json = ReportJSON(envelope: envelope)
    guard case .object(let members) = json.document else { return [] }
    let head = JSONValue.object(members.filter { $0.0 != "items" })
    let values = [head] + envelope.shownItems.map(json.item)
    return values.flatMap { JSONWriter.bytes($0) + [UInt8(ascii: "\n")] }
  }
}
