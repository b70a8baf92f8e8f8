/// Bytes that will be wanted once what is under way is here.
struct Promises: Sendable {
  private struct Promise: Sendable {
    var rank: ContentRank
    var bytes: Int64
    /// Whether they are only what has come so far.
    var isGrowing: Bool
  }

  /// By the numbers of items.
  private var byItem: [Int: Promise] = [:]
  /// Those of plain items are kept in their columns.
  private var plainCount = 0
  /// All of them together.
  private(set) var bytes: Int64 = 0

  var isEmpty: Bool {
    byItem.isEmpty && plainCount == 0
  }

  func has(_ item: Int) -> Bool {
    byItem[item] != nil
  }

  /// What was promised to items that come before those of a rank.
  func bytes(before rank: ContentRank) -> Int64 {
    byItem.values.reduce(0) { $1.rank < rank ? $0 + $1.bytes : $0 }
  }

  /// `size` is nil for an item whose size was not told.
  mutating func make(_ item: Int, size: Int64?, rank: ContentRank) {
    byItem[item] = Promise(rank: rank, bytes: size ?? 0, isGrowing: size == nil)
    bytes += size ?? 0
  }

  /// What has come of a body whose size was not told.
  mutating func grow(_ item: Int, by more: Int64) {
    guard !byItem.isEmpty, byItem[item]?.isGrowing == true else { return }
    byItem[item]?.bytes += more
    bytes += more
  }

  /// How large a body is, which is here and waits for its commit.
  mutating func settle(_ item: Int, _ size: Int64) {
    guard !byItem.isEmpty, let promise = byItem[item] else { return }
    bytes += size - promise.bytes
    byItem[item]?.bytes = size
    byItem[item]?.isGrowing = false
  }

  @discardableResult
  mutating func drop(_ item: Int) -> Bool {
    guard !byItem.isEmpty, let promise = byItem.removeValue(forKey: item) else { return false }
    bytes -= promise.bytes
    return true
  }

  // MARK: Plain items

  mutating func makePlain(_ size: Int64) {
    plainCount += 1
    bytes += size
  }

  mutating func changePlain(by more: Int64) {
    bytes += more
  }

  mutating func dropPlain(_ size: Int64) {
    plainCount -= 1
    bytes -= size
  }

  /// A plain item is an item like any other from now on.
  mutating func adopt(_ item: Int, bytes: Int64, isGrowing: Bool) {
    plainCount -= 1
    byItem[item] = Promise(rank: .passing, bytes: bytes, isGrowing: isGrowing)
  }
}
