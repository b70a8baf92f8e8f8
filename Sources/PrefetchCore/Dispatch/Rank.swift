/// Order of starting, lowest first: segment priority (1 first, none last), documents before items,
/// segment position, item priority, begun before new.
package struct Rank: Comparable, Hashable, Sendable {
  private var number: UInt64

  package init(documentOf segment: Int, priority: Int?) {
    number = Self.field(priority, at: Self.priorityShift) | Self.field(segment: segment)
  }

  /// Creates the rank of an item; `segment` is the position of its segment, `own` its priority there.
  package init(itemOf segment: Int, priority: Int?, own: Int? = nil, hasBegun: Bool = false) {
    number =
      Self.field(priority, at: Self.priorityShift) | Self.itemBit | Self.field(segment: segment)
    number |= Self.field(own, at: Self.ownShift) | (hasBegun ? 0 : Self.newBit)
  }

  private init(number: UInt64) {
    self.number = number
  }

  package static func last(ofPriority priority: Int) -> Rank {
    Rank(number: field(priority + 1, at: priorityShift) - 1)
  }

  func begun(_ hasBegun: Bool) -> Rank {
    Rank(number: hasBegun ? number & ~Self.newBit : number | Self.newBit)
  }

  /// Rank of the item as if it had begun, for comparisons that must ignore this.
  package var ignoringBegun: Rank {
    Rank(number: number & ~Self.newBit)
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }

  /// Priority of a segment or an item that states none.
  package static let lowestPriority = 101

  private static let newBit: UInt64 = 1
  private static let ownShift: UInt64 = 1
  private static let segmentShift: UInt64 = 8
  private static let segmentLimit = 1 << 31
  private static let itemBit: UInt64 = 1 << 40
  private static let priorityShift: UInt64 = 41

  private static func field(_ priority: Int?, at shift: UInt64) -> UInt64 {
    UInt64(min(max(0, priority ?? lowestPriority), lowestPriority + 1)) << shift
  }

  private static func field(segment: Int) -> UInt64 {
    UInt64(min(max(0, segment), segmentLimit)) << segmentShift
  }
}
