/// What the cache held when the run began: a value, ordered by the bytes of the URLs.
package struct RecordInventory: Sendable {
  package private(set) var records: [ContentRecord]
  /// For each record the segments that hold it, as indices into ``segmentKeys``.
  package private(set) var holders: [[Int]]
  package private(set) var segmentKeys: [SegmentKey]
  /// URLs that nobody may remove.
  package var locked: Set<String>
  /// The other way around: for each of ``segmentKeys`` its records, so that no segment has to look
  /// through the whole cache.
  private let members: [SegmentKey: [Int]]

  /// `records` must come ordered by URL, `holders` in step with them.
  package init(
    records: [ContentRecord] = [],
    holders: [[Int]] = [],
    segmentKeys: [SegmentKey] = [],
    locked: Set<String> = []
  ) {
    self.records = records
    self.holders = holders
    self.segmentKeys = segmentKeys
    self.locked = locked
    var positions = [[Int]](repeating: [], count: segmentKeys.count)
    for (record, holding) in holders.enumerated() {
      for holder in holding { positions[holder].append(record) }
    }
    members = Dictionary(zip(segmentKeys, positions)) { first, _ in first }
  }

  /// Where the records of a segment stand in ``records``, in their order.
  package func positions(of key: SegmentKey) -> [Int] {
    members[key] ?? []
  }

  package var count: Int {
    records.count
  }

  /// By binary search; merges over many URLs should walk ``records`` instead.
  package func index(of url: String) -> Int? {
    var low = 0
    var high = records.count
    while low < high {
      let middle = (low + high) / 2
      if Self.precedes(records[middle].url, url) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low < records.count && records[low].url == url ? low : nil
  }

  package subscript(url: String) -> ContentRecord? {
    index(of: url).map { records[$0] }
  }

  /// The order of SQLite's binary collation: byte by byte.
  package static func precedes(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }
}
