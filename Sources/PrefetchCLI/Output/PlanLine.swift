import PrefetchCore

/// One item of a dry run as a tab-separated line: action, segments, size, URL, reason.
struct PlanLine {
  let secrets: SecretNeedles

  func append(_ item: ItemResult, to line: inout [UInt8]) {
    appendHead(item.action, segments: item.segments, to: &line)
    appendRest(item, to: &line)
  }

  /// The fields that other segments may still change.
  func appendHead(_ action: ItemAction, segments: [String], to line: inout [UInt8]) {
    line.append(contentsOf: action.rawValue.utf8)
    line.append(UInt8(ascii: "\t"))
    // What no segment holds may have to go as well.
    let names = segments.isEmpty ? "-" : segments.joined(separator: ",")
    line.append(contentsOf: text(names).utf8)
    line.append(UInt8(ascii: "\t"))
  }

  /// The fields that are the item's own, and the end of the line.
  func appendRest(_ item: ItemResult, to line: inout [UInt8]) {
    line.append(contentsOf: (item.size.map(String.init) ?? "-").utf8)
    line.append(UInt8(ascii: "\t"))
    // Names and commands further down a pipe need the real URL; only secrets stay out.
    line.append(contentsOf: text(UserInformation.masked(item.url)).utf8)
    line.append(UInt8(ascii: "\t"))
    line.append(contentsOf: text(item.failure?.message ?? item.reason).utf8)
    line.append(UInt8(ascii: "\n"))
  }

  private func text(_ text: String) -> String {
    SafeText.line(Redaction.masked(text, needles: secrets))
  }
}
