import PrefetchCore

/// Lines of a progress display for a terminal's size, all narrower than it, so that none wraps.
struct ProgressBlock {
  let state: ProgressState
  let columns: Int
  let rows: Int
  let shown: (String) -> String

  /// Bytes from which a body has its own line.
  static let largeFile: Int64 = 8_000_000
  private static let mostFiles = 4
  private static let mostLines = 24

  var lines: [String] {
    guard !state.segments.isEmpty else { return [] }
    let (indices, hasRest, room) = choice
    let names = indices.map { shortName(state.segments[$0]) }
    let nameWidth = names.reduce(nameWidths.lowerBound) { max($0, ColumnText.width(of: $1)) }
    var filesLeft = min(room, Self.mostFiles)
    var lines: [String] = []
    for (index, name) in zip(indices, names) {
      let segment = state.segments[index]
      lines.append(line(of: segment, named: name, nameWidth))
      let files = largeFiles(of: segment).prefix(filesLeft)
      filesLeft -= files.count
      lines += files.map { line(of: $0, nameWidth) }
    }
    if hasRest { lines.append(rest(excluding: Set(indices))) }
    if state.segments.count > 1 { lines.append(total(nameWidth)) }
    return lines.map { ColumnText.cut($0, to: usable) }
  }

  /// A terminal may wrap after its last column.
  private var usable: Int { max(1, columns - 1) }

  // MARK: What has room

  /// Segments to show, whether others are hidden, and lines left for files.
  private var choice: (indices: [Int], hasRest: Bool, room: Int) {
    let capacity = max(1, min(rows - 1, Self.mostLines))
    let count = state.segments.count
    let totals = count > 1 ? 1 : 0
    guard count + totals > capacity else {
      return (Array(state.segments.indices), false, capacity - count - totals)
    }
    // Two lines stay free: for hidden segments and for the total.
    let chosen = state.segments.indices
      .sorted { (urgency(state.segments[$0]), $0) < (urgency(state.segments[$1]), $1) }
      .prefix(max(0, capacity - 2)).sorted()
    return (chosen, capacity > 1, 0)
  }

  private func urgency(_ segment: ProgressState.Segment) -> Int {
    if segment.result != nil { return 3 }
    if segment.engineStatus.active > 0 { return 0 }
    return segment.engineStatus.wait != nil ? 1 : 2
  }

  private func largeFiles(of segment: ProgressState.Segment) -> [RunStatus.Transfer] {
    segment.transfers.filter { max($0.advance.size ?? 0, $0.advance.position) >= Self.largeFile }
  }

  // MARK: Lines

  private func shortName(_ segment: ProgressState.Segment) -> String {
    // Items from the command line have no segment.
    let name = segment.name.isEmpty ? "get" : shown(state.titles[segment.name] ?? segment.name)
    return ColumnText.shortened(name, to: nameWidths.upperBound)
  }

  private var nameWidths: ClosedRange<Int> {
    switch columns {
    case 80...: 16...20
    case 60...: 12...16
    default: 10...10
    }
  }

  private var barWidth: Int {
    switch columns {
    case 80...: 20
    case 60...: 10
    default: 0
    }
  }

  private func bar(_ fraction: Double) -> String {
    guard barWidth > 0 else { return "" }
    let done = min(barWidth, Int(fraction * Double(barWidth)))
    return
      "[\(String(repeating: "#", count: done))\(String(repeating: "-", count: barWidth - done))]  "
  }

  private func percent(_ fraction: Double) -> String {
    leading("\(Int(fraction * 100))%", 4)
  }

  private func leading(_ text: String, _ columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - text.utf8.count)) + text
  }

  private func line(
    of segment: ProgressState.Segment,
    named name: String,
    _ nameWidth: Int
  ) -> String {
    let fraction = segment.fraction
    let start = ColumnText.padded(name, to: nameWidth) + "  " + bar(fraction) + percent(fraction)
    if let result = segment.result {
      return "\(start)  \(ProgressWords.outcome(segment, result))"
    }
    if let waiting = ProgressWords.waiting(segment) {
      return fitting(["\(start)  "] + waiting.map(shown))
    }
    if segment.discovered == nil { return "\(start)  reading its manifest" }
    let wait = segment.engineStatus.wait.map { ["  "] + ProgressWords.wait($0).map(shown) } ?? []
    return fitting(["\(start)  \(figures(segment))"] + wait)
  }

  private func fitting(_ columns: [String]) -> String {
    var line = columns.first ?? ""
    for column in columns.dropFirst() {
      guard ColumnText.width(of: line + column) <= usable else { break }
      line += column
    }
    return line
  }

  private func figures(_ segment: ProgressState.Segment) -> String {
    leading(ProgressWords.rate(segment.pace.rate), 9) + "  "
      + leading(ProgressWords.clock(segment.remaining), 7)
  }

  private func line(of file: RunStatus.Transfer, _ nameWidth: Int) -> String {
    let path = file.url.path
    let name = path.split(separator: "/").last.map(String.init) ?? file.url.authority
    let label = "  " + ColumnText.shortened(shown(name), to: nameWidth - 2)
    let position = Amounts.bytes(file.advance.position)
    let start = ColumnText.padded(label, to: nameWidth) + "  "
    guard let size = file.advance.size else {
      return start + "\(position) so far"
    }
    return start + bar(file.fraction) + percent(file.fraction)
      + "  \(position) of \(Amounts.bytes(size))"
  }

  private func rest(excluding indices: Set<Int>) -> String {
    let others = state.segments.indices.filter { !indices.contains($0) }.map { state.segments[$0] }
    let done = others.count { $0.result != nil }
    let active = others.count { $0.result == nil && $0.engineStatus.active > 0 }
    let waiting = others.count - done - active
    let parts = [(active, "active"), (waiting, "waiting"), (done, "done")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let segments = Amounts.count(Int64(others.count), "more segment")
    return "and \(segments): \(parts.joined(separator: ", "))"
  }

  private func total(_ nameWidth: Int) -> String {
    let items = "\(state.settled) of \(Amounts.count(Int64(state.discovered), "item"))"
    let rate = ProgressWords.rate(state.pace.rate)
    let parts = [
      items, Amounts.bytes(state.receivedBytes), rate,
      state.remaining.map { "\(ProgressWords.clock($0)) left" } ?? "",
    ]
    let columns = parts.filter { !$0.isEmpty }.enumerated().map { index, part in
      index == 0 ? part : ", \(part)"
    }
    return fitting([ColumnText.padded("total", to: nameWidth) + "  "] + columns)
  }
}
