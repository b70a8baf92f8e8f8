internal import PrefetchCore

/// Sets of segments that hold items, by inventory position; 0 is the empty set.
struct HolderLists {
  private(set) var keys: [SegmentKey] = []
  private(set) var sets: [[Int]] = [[]]
  private var positions: [Int64: UInt32] = [:]
  private var last: (number: Int64, position: UInt32) = (0, 0)

  init(_ database: Database) throws(Failure) {
    let numbers = try readKeys(database)
    let rows = database.prepare("SELECT holders, segment FROM holder_sets")
    while try rows.step() {
      guard let segment = numbers[rows.number(1)] else { continue }
      let set = rows.number(0)
      if let known = positions[set] {
        sets[Int(known)].append(segment)
      } else {
        positions[set] = UInt32(sets.count)
        sets.append([segment])
      }
    }
    for position in sets.indices { sets[position].sort() }
  }

  /// Returns the position of a set; most items have the set of the item before.
  mutating func position(of set: Int64) -> UInt32 {
    guard set != last.number else { return last.position }
    last = (set, positions[set] ?? 0)
    return last.position
  }

  private mutating func readKeys(_ database: Database) throws(Failure) -> [Int64: Int] {
    let rows = database.prepare(
      "SELECT segment, identity, name FROM segments ORDER BY identity, name"
    )
    var numbers: [Int64: Int] = [:]
    while try rows.step() {
      numbers[rows.number(0)] = keys.count
      keys.append(SegmentKey(identity: rows.text(1), name: rows.text(2)))
    }
    return numbers
  }
}
