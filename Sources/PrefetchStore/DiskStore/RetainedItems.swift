internal import PrefetchCore

/// Codes retained items as lines of item number, counted milliseconds and start; `-` is nil.
enum RetainedItems {
  static func encode(_ items: [RetainedItem]) -> String? {
    guard !items.isEmpty else { return nil }
    return items.map { item in
      let counted = item.counted.map { String($0.milliseconds) } ?? "-"
      let since = item.countedSince.map { String($0.milliseconds) } ?? "-"
      return "\(item.item) \(counted) \(since)"
    }.joined(separator: "\n")
  }

  static func decode(_ text: String?) throws(Failure) -> [RetainedItem] {
    var items: [RetainedItem] = []
    for line in (text ?? "").split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count == 3, let item = Int64(fields[0]) else {
        throw Failure(.storeDamaged, "the index holds an impossible line of a retained item")
      }
      items.append(
        RetainedItem(
          item: item,
          counted: Int64(fields[1]).map { .milliseconds($0) },
          countedSince: Int64(fields[2]).map { Instant(milliseconds: $0) }
        )
      )
    }
    return items
  }
}
