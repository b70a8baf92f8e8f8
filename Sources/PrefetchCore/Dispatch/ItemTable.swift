/// Table of the items that a run has work for.
///
/// Most of a million items never need more than a row. A plain item takes a little more, and only an
/// active item takes an object.
struct ItemTable: RandomAccessCollection, MutableCollection {
  private var rows: [ItemWork] = []
  private var actives: [ActiveItem] = []
  private var freeActives: [Int32] = []
  private var plains: [PlainItem] = []
  private var freePlains: [Int32] = []

  fileprivate static let nowhere: Int32 = -1

  var startIndex: Int { 0 }
  var endIndex: Int { rows.count }

  // Not by `_read`: the compiler (6.3) reads a computed part of a part of what that yields wrongly.
  subscript(item: Int) -> ItemWork {
    @inline(__always) get { rows[item] }
    @inline(__always) _modify { yield &rows[item] }
  }

  mutating func append(_ row: ItemWork) {
    rows.append(row)
  }

  /// Forgets the last one, which is not under way any more.
  mutating func removeLast() {
    rows.removeLast()
  }

  // MARK: Bare, plain, active

  /// Whether work on the item has not begun, or has ended.
  func isBare(_ item: Int) -> Bool { rows[item].place == Self.nowhere }

  func isPlain(_ item: Int) -> Bool { rows[item].place < Self.nowhere }

  func isActive(_ item: Int) -> Bool { rows[item].place > Self.nowhere }

  /// Returns the object of an active item.
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

  /// Takes the plain item's data out of the table.
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

  /// Frees the slot; holders of the object still see how the item ended, not its exchange and record.
  mutating func deactivate(_ item: Int) {
    guard let active = ifActive(item) else { return }
    active.exchange = nil
    active.record = nil
    active.prepared = nil
    freeActives.append(rows[item].place)
    rows[item].place = Self.nowhere
  }
}

/// An item with something to do; one for each URL, however many segments name it.
///
/// A million may wait, so everything that only an item under way needs is an ``ActiveItem``.
struct ItemWork: Sendable {
  enum State: UInt8, Hashable, Sendable {
    case queued
    /// Its record is being read.
    case preparing
    case inFlight
    /// Between two attempts.
    case waiting
    /// Its own document is here, and what that names is asked for.
    case gathering
    /// Its change is decided and not yet durable.
    case committing
    case settled
  }

  var step: PlannedStep
  var segment: UInt32
  /// Where it stands among everything that is declared.
  var position: UInt32
  /// Slot of the plain or active item, encoded by ``ItemTable``.
  fileprivate var place: Int32 = ItemTable.nowhere
  var state = State.queued
  /// Where it is asked for first: 0 is its own URL, others are its alternates.
  var source: UInt8 = 0

  init(step: PlannedStep, segment: UInt32, position: UInt32) {
    self.step = step
    self.segment = segment
    self.position = position
  }
}

/// An item about which nothing has to be decided as long as its answer is the one that was hoped for:
/// the body of what is not here, or that what is here still holds.
///
/// Most runs have thousands of them. Such an item has no ``ActiveItem`` and is not told of by
/// itself.
struct PlainItem: Sendable {
  /// What is stored of it and to be confirmed; nil where nothing is, or until it is read.
  var stored: (any StoredAnswer)?
  /// Whether nothing more has to be read before it can be asked for.
  var isRead = false
  /// Where it takes a place on the wire.
  var host: HostID?
  /// What the disk has for it, where its size was not told.
  var diskLimit: Int64?
  /// Bytes reserved for its body.
  var reservation: Int64?
  /// What came and waits for its commit.
  var arrival: Arrival?
}
