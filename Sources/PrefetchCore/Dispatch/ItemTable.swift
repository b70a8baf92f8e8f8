/// Items that a run has work for: a row each, more for simple items, objects for active ones.
struct ItemTable: RandomAccessCollection, MutableCollection {
  private var rows: [ItemWork] = []
  private var actives: [ActiveItem] = []
  private var freeActives: [Int32] = []
  private var simples: [SimpleItem] = []
  private var freeSimples: [Int32] = []

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

  // MARK: Bare, simple, active

  func isBare(_ item: Int) -> Bool { rows[item].slot == Self.nowhere }

  func isSimple(_ item: Int) -> Bool { rows[item].slot < Self.nowhere }

  func isActive(_ item: Int) -> Bool { rows[item].slot > Self.nowhere }

  func active(_ item: Int) -> ActiveItem { actives[Int(rows[item].slot)] }

  func ifActive(_ item: Int) -> ActiveItem? { isActive(item) ? active(item) : nil }

  subscript(simple item: Int) -> SimpleItem {
    @inline(__always) get { simples[Self.number(at: rows[item].slot)] }
    @inline(__always) _modify { yield &simples[Self.number(at: rows[item].slot)] }
  }

  private static func number(at slot: Int32) -> Int { Int(nowhere - 1 - slot) }

  // MARK: Changes of place

  mutating func makeSimple(_ item: Int) {
    let number = freeSimples.popLast() ?? Int32(simples.count)
    if number == simples.count { simples.append(SimpleItem()) }
    rows[item].slot = Self.nowhere - 1 - number
  }

  mutating func endSimple(_ item: Int) -> SimpleItem {
    let slot = Self.number(at: rows[item].slot)
    let simple = simples[slot]
    simples[slot] = SimpleItem()
    freeSimples.append(Int32(slot))
    rows[item].slot = Self.nowhere
    return simple
  }

  mutating func activate(_ item: Int, as active: ActiveItem) {
    if let slot = freeActives.popLast() {
      actives[Int(slot)] = active
      rows[item].slot = slot
    } else {
      rows[item].slot = Int32(actives.count)
      actives.append(active)
    }
  }

  /// Frees the slot; holders of the object keep the result, but not exchange and record.
  mutating func deactivate(_ item: Int) {
    guard let active = ifActive(item) else { return }
    active.exchange = nil
    active.record = nil
    active.prepared = nil
    freeActives.append(rows[item].slot)
    rows[item].slot = Self.nowhere
  }
}

/// Row of an item, one per URL; all else is in ``ActiveItem``, since a million may be queued.
struct ItemWork: Sendable {
  enum State: UInt8, Hashable, Sendable {
    case queued
    case preparing
    case inFlight
    case waiting
    case gathering
    case committing
    case settled
  }

  var step: PlannedStep
  var segment: UInt32
  var position: UInt32
  /// Slot of the plain or active item, encoded by ``ItemTable``.
  fileprivate var slot: Int32 = ItemTable.nowhere
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
struct SimpleItem: Sendable {
  /// Stored answer to confirm; nil if nothing is stored, or until it is read.
  var stored: (any StoredResponse)?
  var isRead = false
  var host: HostID?
  /// Bytes that the disk has for a body of unknown size.
  var diskLimit: Int64?
  var reservation: Int64?
  var arrival: Arrival?
}
