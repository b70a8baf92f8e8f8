internal import PrefetchCore

/// When servers say that items were last changed, for files that are to have these times.
struct ModificationTimes {
  /// In nanoseconds since 1970, by the keys of the items' URLs.
  private(set) var all: [URLKey: Int64] = [:]
  /// A number that differs where any of them does.
  private(set) var mark: UInt64 = 0

  static let none = ModificationTimes()

  func time(of url: String?) -> Int64? {
    all.isEmpty ? nil : url.flatMap { all[URLKey($0)] }
  }
}

extension ModificationTimes {
  /// Of all items of a segment.
  init(of segment: SegmentKey, in database: Database) throws(Failure) {
    let rows = try database.rows(
      """
      SELECT url, facts FROM items WHERE holders IN (SELECT holders FROM holder_sets WHERE segment=(\
      SELECT segment FROM segments WHERE identity=\(segment.identity) AND name=\(segment.name))) \
      ORDER BY item
      """
    )
    var hash = StableHash()
    // Most came to their server together.
    var last: (text: String, time: Int64?) = ("", nil)
    while try rows.step() {
      let text = unsafe rows.withBytes(1) { unsafe RecordRow.lastModified($0.bytes) }
      hash.combine(text)
      guard let text else { continue }
      if text != last.text { last = (text, Self.nanoseconds(text)) }
      if let time = last.time { all[URLKey(rows.text(0))] = time }
    }
    mark = hash.value
  }

  /// Nil for what is no date, or none that a file can have.
  private static func nanoseconds(_ text: String) -> Int64? {
    guard let instant = HTTPDate.parse(text) else { return nil }
    let (time, isTooLarge) = instant.milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return isTooLarge ? nil : time
  }
}

extension DiskStore {
  func modificationTimes(of segment: SegmentKey) throws(Failure) -> ModificationTimes {
    try answering { () throws(Failure) in
      try ModificationTimes(of: segment, in: try database())
    }
  }
}
