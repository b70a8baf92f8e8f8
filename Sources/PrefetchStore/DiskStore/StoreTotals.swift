package import PrefetchCore

package struct StoreTotals: Hashable, Sendable {
  package var items: Int
  package var objects: Int
  /// Bytes of the objects, manifests included: a shared object counts once, an object of a lower
  /// cache never.
  package var bytes: Int64

  package init(items: Int = 0, objects: Int = 0, bytes: Int64 = 0) {
    self.items = items
    self.objects = objects
    self.bytes = bytes
  }
}

/// Counts of one segment; a shared body counts for each of its items.
package struct SegmentTotals: Hashable, Sendable {
  package var items = 0
  package var bytes: Int64 = 0
}

extension DiskStore {
  package func totals() throws(Failure) -> StoreTotals {
    try summary().totals
  }

  package func summary() throws(Failure) -> (
    totals: StoreTotals, segments: [SegmentKey: SegmentTotals]
  ) {
    var summary = try named()
    if let leases = try Leases(in: root) {
      let leased = try leases.bodies(excluding: layers.own)
      summary.totals.objects += leased.count
      summary.totals.bytes += leased.bytes
    }
    return summary
  }

  /// Returns the counts of the index alone, without leased bodies.
  func named() throws(Failure) -> (
    totals: StoreTotals, segments: [SegmentKey: SegmentTotals]
  ) {
    try withBackup { () throws(Failure) in
      let database = try database()
      return try database.reading { () throws(Failure) in try count(database) }
    }
  }

  private func count(
    _ database: Database
  ) throws(Failure) -> (
    totals: StoreTotals, segments: [SegmentKey: SegmentTotals]
  ) {
    var holders = try HolderLists(database)
    var sets = [SegmentTotals](repeating: SegmentTotals(), count: holders.sets.count)
    var totals = StoreTotals()
    let (layers, isLayered) = (layers, !lower.isEmpty)
    // The mark of a digest identifies bodies well enough for counting.
    var seen: Set<Int64> = []
    let rows = database.prepare("SELECT holders, mark, facts, url FROM items")
    while try rows.step() {
      totals.items += 1
      let set = Int(holders.position(of: rows.number(0)))
      sets[set].items += 1
      guard let mark = rows.optionalNumber(1) else { continue }
      let size = try rows.head(2, of: rows.text(3)).size
      sets[set].bytes += size
      guard seen.insert(mark).inserted else { continue }
      if isLayered, try !layers.isOwn(rows.head(2, of: rows.text(3)).digest) { continue }
      totals.objects += 1
      totals.bytes += size
    }
    let files = database.prepare(
      "SELECT holders, digest, size FROM item_files JOIN items USING (item)"
    )
    while try files.step() {
      guard let digest = files.optionalDigest(1) else { continue }
      sets[Int(holders.position(of: files.number(0)))].bytes += files.number(2)
      guard seen.insert(digest.mark).inserted, layers.isOwn(digest) else { continue }
      totals.objects += 1
      totals.bytes += files.number(2)
    }
    for digest in try documentDigests(database).keys
    where seen.insert(digest.mark).inserted && (!isLayered || layers.isOwn(digest)) {
      totals.objects += 1
      totals.bytes += try sizeOnDisk(digest) ?? 0
    }
    var segments: [SegmentKey: SegmentTotals] = [:]
    for (set, positions) in holders.sets.enumerated() {
      for position in positions {
        segments[holders.keys[position], default: SegmentTotals()].items += sets[set].items
        segments[holders.keys[position], default: SegmentTotals()].bytes += sets[set].bytes
      }
    }
    return (totals, segments)
  }
}
