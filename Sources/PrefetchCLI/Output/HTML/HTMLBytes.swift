import PrefetchCore

struct HTMLBytes {
  let timeline: ByteTimeline
  let elapsed: Duration

  private static let mostColumns = 120
  private static let height = 100.0

  var isEmpty: Bool { timeline.counts.isEmpty }

  var lines: [String] {
    let reach = timeline.span * timeline.counts.count
    let length = max(elapsed, reach)
    let columns = columns(over: length)
    let total = timeline.counts.reduce(0, +)
    let peak = columns.max() ?? 0
    let width = max(1, length.microseconds / Int64(columns.count))
    let rate = Double(peak) * 1_000_000 / Double(width)
    let most = "\(Amounts.bytes(Int64(rate))) a second"
    let middle = HTMLText.span(.microseconds(width * Int64(columns.firstIndex(of: peak) ?? 0)))
    let label =
      "\(Amounts.bytes(total)) received in \(HTMLText.span(length)), at most \(most), \(middle) after the beginning"
    let ticks = (0...4).map { "<span>\(HTMLText.span(length * $0 / 4))</span>" }
    return [
      "<p>\(label).</p>",
      "<svg class=\"plot\" viewBox=\"0 0 \(columns.count) 104\" preserveAspectRatio=\"none\" role=\"img\" "
        + "aria-label=\"Bytes over time: \(label)\"><path class=\"area\" d=\"\(path(columns, peak))\"/></svg>",
      "<div class=\"axis\" aria-hidden=\"true\">\(ticks.joined())</div>",
    ]
  }

  private func columns(over length: Duration) -> [Int64] {
    let span = timeline.span.microseconds
    let spans = max(1, (length.microseconds + span - 1) / span)
    let number = min(Int64(Self.mostColumns), spans)
    var columns = [Int64](repeating: 0, count: Int(number))
    for (index, count) in timeline.counts.enumerated() {
      columns[Int(min(number - 1, Int64(index) * number / spans))] += count
    }
    return columns
  }

  private func path(_ columns: [Int64], _ peak: Int64) -> String {
    var path = "M0 104"
    var last = -1.0
    for (index, count) in columns.enumerated() {
      var height = peak > 0 ? Self.height * Double(count) / Double(peak) : 0
      // A small amount stays visible.
      if count > 0 { height = max(height, 1) }
      if height != last {
        path += "\(index == 0 ? "" : "H\(index)")V\(HTMLText.decimal(104 - height, decimals: 1))"
      }
      last = height
    }
    return path + "H\(columns.count)V104Z"
  }
}
