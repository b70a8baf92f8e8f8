import PrefetchCore

/// Lines ordered at the end, since manifests set priorities and items have several segments.
struct RankedLines {
  private struct RankedLine {
    var key: URLKey
    var action: ItemAction
    /// Index of the line's segments in ``segmentLists``.
    var segments: Int32
    /// Position in the segment's list; negative if there is none.
    var position: Int32
    var start: Int
    var length: Int32
  }

  private var text: [UInt8] = []
  private var lines: [RankedLine] = []
  private var segmentLists: [[String]] = []
  private var numbers: [[String]: Int32] = [:]
  /// Further segments of an item that already had its line, by position.
  private var shares: [Int32: [String]] = [:]
  private var newer: [URLKey: RankedLine] = [:]

  var isEmpty: Bool {
    lines.isEmpty
  }

  var segmentsWithDeferredItem: Set<String> {
    let deferred = lines.filter { (newer[$0.key]?.action ?? $0.action) == .defer }
    return Set(deferred.flatMap { segmentLists[Int($0.segments)] })
  }

  mutating func add(_ item: ItemResult, _ format: PlanLine) {
    let line = line(item, format)
    lines.append(line)
  }

  mutating func replace(_ item: ItemResult, _ format: PlanLine) {
    let line = line(item, format)
    newer[line.key] = line
  }

  private mutating func line(_ item: ItemResult, _ format: PlanLine) -> RankedLine {
    let start = text.count
    format.appendRest(item, to: &text)
    return RankedLine(
      key: URLKey(item.url),
      action: item.action,
      segments: number(of: item.segments),
      position: Int32(clamping: item.position ?? -1),
      start: start,
      length: Int32(clamping: text.count - start)
    )
  }

  mutating func share(_ item: ItemResult, with segment: String) {
    guard let position = item.position else { return }
    shares[Int32(clamping: position), default: []].append(segment)
  }

  /// Writes lines by the best rank of their segments, then position, removals last.
  mutating func write(
    ranks: [String: Int],
    _ format: PlanLine,
    _ output: (inout [UInt8]) -> Void
  ) {
    addShares()
    applyNewer()
    let last = ranks.count
    let ofLists = segmentLists.map { list in list.compactMap { ranks[$0] }.min() ?? last }
    let order = lines.indices.sorted { a, b in
      let (one, other) = (lines[a], lines[b])
      let first = (one.action == .remove ? 1 : 0, ofLists[Int(one.segments)], one.position, a)
      return first
        < (other.action == .remove ? 1 : 0, ofLists[Int(other.segments)], other.position, b)
    }
    var buffer: [UInt8] = []
    let lists = segmentLists.map { list in
      list.sorted { (ranks[$0] ?? last, $0) < (ranks[$1] ?? last, $1) }
    }
    for index in order {
      let line = lines[index]
      format.appendHead(line.action, segments: lists[Int(line.segments)], to: &buffer)
      buffer += text[line.start..<line.start + Int(line.length)]
      output(&buffer)
    }
    self = Self()
  }

  private mutating func applyNewer() {
    guard !newer.isEmpty else { return }
    for index in lines.indices where lines[index].action != .remove {
      guard let line = newer[lines[index].key] else { continue }
      let old = lines[index]
      lines[index] = line
      lines[index].position = old.position
    }
  }

  private mutating func addShares() {
    guard !shares.isEmpty else { return }
    for index in lines.indices where lines[index].position >= 0 {
      guard let further = shares[lines[index].position] else { continue }
      lines[index].segments = number(of: segmentLists[Int(lines[index].segments)] + further)
    }
  }

  private mutating func number(of list: [String]) -> Int32 {
    if let number = numbers[list] { return number }
    let number = Int32(segmentLists.count)
    segmentLists.append(list)
    numbers[list] = number
    return number
  }
}
