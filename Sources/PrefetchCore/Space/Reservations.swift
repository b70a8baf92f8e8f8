/// Bytes reserved for items in flight.
struct Reservations: Sendable {
  private struct Reservation: Sendable {
    var rank: ContentRank
    var bytes: Int64
    /// Whether the size is unknown, so that the reservation grows with the received bytes.
    var isGrowing: Bool
  }

  private var byItem: [Int: Reservation] = [:]
  /// Number of plain items with a reservation; their bytes are in their columns.
  private var simpleCount = 0
  private(set) var bytes: Int64 = 0

  var isEmpty: Bool {
    byItem.isEmpty && simpleCount == 0
  }

  func has(_ item: Int) -> Bool {
    byItem[item] != nil
  }

  func bytes(before rank: ContentRank) -> Int64 {
    byItem.values.reduce(0) { $1.rank < rank ? $0 + $1.bytes : $0 }
  }

  mutating func make(_ item: Int, size: Int64?, rank: ContentRank) {
    byItem[item] = Reservation(rank: rank, bytes: size ?? 0, isGrowing: size == nil)
    bytes += size ?? 0
  }

  mutating func grow(_ item: Int, by more: Int64) {
    guard !byItem.isEmpty, byItem[item]?.isGrowing == true else { return }
    byItem[item]?.bytes += more
    bytes += more
  }

  mutating func settle(_ item: Int, _ size: Int64) {
    guard !byItem.isEmpty, let reservation = byItem[item] else { return }
    bytes += size - reservation.bytes
    byItem[item]?.bytes = size
    byItem[item]?.isGrowing = false
  }

  @discardableResult
  mutating func drop(_ item: Int) -> Bool {
    guard !byItem.isEmpty, let reservation = byItem.removeValue(forKey: item) else { return false }
    bytes -= reservation.bytes
    return true
  }

  // MARK: Plain items

  mutating func addSimple(_ size: Int64) {
    simpleCount += 1
    bytes += size
  }

  mutating func changeSimple(by more: Int64) {
    bytes += more
  }

  mutating func removeSimple(_ size: Int64) {
    simpleCount -= 1
    bytes -= size
  }

  /// Moves the reservation of a plain item that became active.
  mutating func adopt(_ item: Int, bytes: Int64, isGrowing: Bool) {
    simpleCount -= 1
    byItem[item] = Reservation(rank: .undeclared, bytes: bytes, isGrowing: isGrowing)
  }
}
