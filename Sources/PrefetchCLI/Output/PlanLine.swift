import PrefetchCore

/// A dry run's item as a tab-separated line: action, segments, size, URL, reason.
struct PlanLine {
  let secrets: SecretNeedles

  func append(_ item: ItemResult, to line: inout [UInt8]) {
    appendHead(item.action, segments: item.segments, to: &line)
    appendRest(item, to: &line)
  }

  func appendHead(_ action: ItemAction, segments: [String], to line: inout [UInt8]) {
    line.append(contentsOf: action.rawValue.utf8)
    line.append(UInt8(ascii: "\t"))
    // Removed items may belong to no segment.
    let names = segments.isEmpty ? "-" : segments.joined(separator: ",")
    line.append(contentsOf: text(names).utf8)
    line.append(UInt8(ascii: "\t"))
  }

  func appendRest(_ item: ItemResult, to line: inout [UInt8]) {
    line.append(contentsOf: (item.size.map(String.init) ?? "-").utf8)
    line.append(UInt8(ascii: "\t"))
    // Programs in a pipe need the real URL; only secrets are masked.
    line.append(contentsOf: text(UserInformation.masked(item.url)).utf8)
    line.append(UInt8(ascii: "\t"))
    line.append(contentsOf: text(item.failure?.message ?? item.reason).utf8)
    line.append(UInt8(ascii: "\n"))
  }

  private func text(_ text: String) -> String {
    SafeText.line(Redaction.masked(text, needles: secrets))
  }
}
