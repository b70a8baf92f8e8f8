import PrefetchCore

/// A brute-force model of a full cache, computed from sizes and ranks only.
struct RoomModel {
  struct Item: Hashable {
    var url: String
    /// Rank: segment priority, segment index, item priority, item index; smaller is kept longer.
    var position: [Int]
    var size: Int64
  }

  /// A stored body.
  struct Stored: Hashable {
    var body: ContentDigest
    var size: Int64
    var urls: Set<String>
  }

  var limit: Int64
  /// Items of the run's configuration; each URL once, by its best rank.
  var declared: [Item]
  var stored: [Stored]
  /// Bodies of another configuration, or of no item.
  var untouchable: Set<ContentDigest>
  var other: Int64 = 0

  var used: Int64 { stored.reduce(other) { $0 + $1.size } }

  /// Returns the best rank among the items with a body; nil when this configuration has none.
  func position(of body: Stored) -> [Int]? {
    declared.filter { body.urls.contains($0.url) }.map(\.position).min {
      $0.lexicographicallyPrecedes($1)
    }
  }

  /// Returns whether an item would fit after evicting everything that ranks below it.
  func fits(_ item: Item) -> Bool {
    let staying = stored.filter { body in
      if body.urls == [item.url] { return false }
      if untouchable.contains(body.body) { return true }
      guard let position = position(of: body) else { return false }
      return !item.position.lexicographicallyPrecedes(position)
    }
    return staying.reduce(other) { $0 + $1.size } + item.size <= limit
  }

  /// Whether everything evictable was evicted, when the limit cannot be met.
  var isShrunk: Bool {
    used <= limit || stored.allSatisfy { untouchable.contains($0.body) }
  }

  /// Returns whether one of the evicted bodies would still have fitted.
  func wentInVain(_ removed: [Stored]) -> Bool {
    removed.contains { body in used + body.size <= limit }
  }
}
