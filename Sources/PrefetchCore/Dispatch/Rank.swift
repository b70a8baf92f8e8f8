/// Who goes first where only one can: the whole order in one number, and the lower one goes first.
///
/// It goes by the segment's priority (1 first, none last), then documents before items, then by the
/// segment's place in the list, then by the item's own priority; what has begun goes before its
/// equals.
package struct Rank: Comparable, Hashable, Sendable {
  private var number: UInt64

  /// A document of the segment at that place of the list.
  package init(documentOf place: Int, priority: Int?) {
    number = Self.field(priority, at: Self.priorityShift) | Self.field(place: place)
  }

  /// An item of the segment at that place of the list; `own` is its priority there.
  package init(itemOf place: Int, priority: Int?, own: Int? = nil, hasBegun: Bool = false) {
    number = Self.field(priority, at: Self.priorityShift) | Self.itemBit | Self.field(place: place)
    number |= Self.field(own, at: Self.ownShift) | (hasBegun ? 0 : Self.newBit)
  }

  private init(number: UInt64) {
    self.number = number
  }

  /// The last of all that a segment of the priority has.
  package static func last(ofPriority priority: Int) -> Rank {
    Rank(number: field(priority + 1, at: priorityShift) - 1)
  }

  /// The same for what has begun, or has not.
  func begun(_ hasBegun: Bool) -> Rank {
    Rank(number: hasBegun ? number & ~Self.newBit : number | Self.newBit)
  }

  /// The same for all who may only have begun or not.
  package var standing: Rank {
    Rank(number: number & ~Self.newBit)
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }

  /// Of a segment or an item that states none.
  package static let lowestPriority = 101

  private static let newBit: UInt64 = 1
  private static let ownShift: UInt64 = 1
  private static let placeShift: UInt64 = 8
  private static let placeLimit = 1 << 31
  private static let itemBit: UInt64 = 1 << 40
  private static let priorityShift: UInt64 = 41

  private static func field(_ priority: Int?, at shift: UInt64) -> UInt64 {
    UInt64(min(max(0, priority ?? lowestPriority), lowestPriority + 1)) << shift
  }

  private static func field(place: Int) -> UInt64 {
    UInt64(min(max(0, place), placeLimit)) << placeShift
  }
}
