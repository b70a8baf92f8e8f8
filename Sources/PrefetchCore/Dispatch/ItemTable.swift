/// Items that a run has work for: a row each, more for plain items, objects for active ones.
struct ItemTable: RandomAccessCollection, MutableCollection {
  private var rows: [ItemWork] = []
  private var actives: [ActiveItem] = []
  private var freeActives: [Int32] = []
  private var plains: [PlainItem] = []
  private var freePlains: [Int32] = []

  fileprivate static let nowhere: Int32 = -1

  var startIndex: Int { 0 }
  var endIndex: Int { rows.count }

  // Without `_read`: compiler 6.3 reads a nested computed part of a yielded value wrongly.
  subscript(item: Int) -> ItemWork {
    @inline(__always) get { rows[item] }
    @inline(__always) _modify { yield &rows[item] }
  }

  mutating func append(_ row: ItemWork) {
    rows.append(row)
  }

  /// Removes the last row, whose item must be settled.
  mutating func removeLast() {
    rows.removeLast()
  }

  // MARK: Bare, plain, active

  /// Whether work on the item has not begun, or has ended.
  func isBare(_ item: Int) -> Bool { rows[item].place == Self.nowhere }

  func isPlain(_ item: Int) -> Bool { rows[item].place < Self.nowhere }

  func isActive(_ item: Int) -> Bool { rows[item].place > Self.nowhere }

  func active(_ item: Int) -> ActiveItem { actives[Int(rows[item].place)] }

  func ifActive(_ item: Int) -> ActiveItem? { isActive(item) ? active(item) : nil }

  subscript(plain item: Int) -> PlainItem {
    @inline(__always) get { plains[Self.number(at: rows[item].place)] }
    @inline(__always) _modify { yield &plains[Self.number(at: rows[item].place)] }
  }

  private static func number(at place: Int32) -> Int { Int(nowhere - 1 - place) }

  // MARK: Changes of place

  mutating func makePlain(_ item: Int) {
    let number = freePlains.popLast() ?? Int32(plains.count)
    if number == plains.count { plains.append(PlainItem()) }
    rows[item].place = Self.nowhere - 1 - number
  }

  mutating func endPlain(_ item: Int) -> PlainItem {
    let place = Self.number(at: rows[item].place)
    let plain = plains[place]
    plains[place] = PlainItem()
    freePlains.append(Int32(place))
    rows[item].place = Self.nowhere
    return plain
  }

  mutating func activate(_ item: Int, as active: ActiveItem) {
    if let place = freeActives.popLast() {
      actives[Int(place)] = active
      rows[item].place = place
    } else {
      rows[item].place = Int32(actives.count)
      actives.append(active)
    }
  }

  /// Frees the slot; holders of the object keep the result, but not exchange and record.
  mutating func deactivate(_ item: Int) {
    guard let active = ifActive(item) else { return }
    active.exchange = nil
    active.record = nil
    active.prepared = nil
    freeActives.append(rows[item].place)
    rows[item].place = Self.nowhere
  }
}

/// Row of an item, one per URL; all else is in ``ActiveItem``, since a million may be queued.
struct ItemWork: Sendable {
  enum State: UInt8, Hashable, Sendable {
    case queued
    case preparing
    case inFlight
    case waiting
    /// The item's own document is here, and its pieces are requested.
    case gathering
    /// The item's change is decided but not committed.
    case committing
    case settled
  }

  var step: PlannedStep
  var segment: UInt32
  /// Position among all declared items of the run.
  var position: UInt32
  /// Slot of the plain or active item, encoded by ``ItemTable``.
  fileprivate var place: Int32 = ItemTable.nowhere
  var state = State.queued
  /// Index of the first source: 0 is the item's URL, others are its alternates.
  var source: UInt8 = 0

  init(step: PlannedStep, segment: UInt32, position: UInt32) {
    self.step = step
    self.segment = segment
    self.position = position
  }
}

/// An item without ``ActiveItem``: its expected answer, a body or a 304, needs no decision.
struct PlainItem: Sendable {
  /// Stored answer to confirm; nil if nothing is stored, or until it is read.
  var stored: (any StoredAnswer)?
  var isRead = false
  /// Host on which the item holds a slot.
  var host: HostID?
  /// Bytes that the disk has for a body of unknown size.
  var diskLimit: Int64?
  var reservation: Int64?
  /// Received body, until its commit.
  var arrival: Arrival?
}
