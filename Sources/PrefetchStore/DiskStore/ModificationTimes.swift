internal import PrefetchCore

/// `Last-Modified` times of items, for files that get these times.
struct ModificationTimes {
  /// Nanoseconds since 1970, by the key of the item's URL.
  private(set) var all: [URLKey: Int64] = [:]
  /// Hash of the items' `Last-Modified` texts, part of the mark of a published tree.
  private(set) var mark: UInt64 = 0

  static let none = ModificationTimes()

  func time(of url: String?) -> Int64? {
    all.isEmpty ? nil : url.flatMap { all[URLKey($0)] }
  }
}

extension ModificationTimes {
  init(of segment: SegmentKey, in database: Database) throws(Failure) {
    let rows = try database.rows(
      """
      SELECT url, facts FROM items WHERE holders IN (SELECT holders FROM holder_sets WHERE segment=(\
      SELECT segment FROM segments WHERE identity=\(segment.identity) AND name=\(segment.name))) \
      ORDER BY item
      """
    )
    var hash = StableHash()
    // Neighbouring items often have the same date, which is parsed once.
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

  private static func nanoseconds(_ text: String) -> Int64? {
    guard let instant = HTTPDate.parse(text) else { return nil }
    let (time, isTooLarge) = instant.milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return isTooLarge ? nil : time
  }
}

extension DiskStore {
  func modificationTimes(of segment: SegmentKey) throws(Failure) -> ModificationTimes {
    try withBackup { () throws(Failure) in
      try ModificationTimes(of: segment, in: try database())
    }
  }
}
