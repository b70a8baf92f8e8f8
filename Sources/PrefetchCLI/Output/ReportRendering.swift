import PrefetchCore
import PrefetchDocuments

/// A report in any of its formats, ready to be written.
enum ReportRendering {
  static func bytes(_ envelope: ReportEnvelope, as format: ReportFormat) -> [UInt8] {
    switch format {
    case .text:
      Array((ReportText(envelope: envelope).lines.joined(separator: "\n") + "\n").utf8)
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
      Array(ReportPrometheus(envelope: envelope).text.utf8)
    case .html:
      Array(ReportHTML(envelope: envelope).text.utf8)
    }
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
