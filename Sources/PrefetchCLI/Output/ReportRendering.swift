import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

enum ReportRendering {
  /// Renders a report; `previous` are the samples of the target file.
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

  /// Returns the document without items on the first line, then one item a line.
  private static func lines(_ envelope: ReportEnvelope) -> [UInt8] {
    let json = ReportJSON(envelope: envelope)
    guard case .object(let members) = json.document else { return [] }
    let head = JSONValue.object(members.filter { $0.0 != "items" })
    let values = [head] + envelope.shownItems.map(json.item)
    return values.flatMap { JSONWriter.bytes($0) + [UInt8(ascii: "\n")] }
  }
}
