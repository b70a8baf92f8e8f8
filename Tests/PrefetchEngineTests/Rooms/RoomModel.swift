import PrefetchCore

/// What the rules of a full cache say of one, by brute force and from nothing but sizes and places.
struct RoomModel {
  struct Item: Hashable {
    var url: String
    /// Priority of its segment, place of that, its own priority, its place: smaller is kept longer.
    var place: [Int]
    var size: Int64
  }

  /// A body as it is stored.
  struct Stored: Hashable {
    var body: ContentDigest
    var size: Int64
    var urls: Set<String>
  }

  var limit: Int64
  /// What the configuration of this run declares; one URL once, by its best place.
  var declared: [Item]
  var stored: [Stored]
  /// What another configuration declares, or what is no item's.
  var untouchable: Set<ContentDigest>
  var other: Int64 = 0

  var used: Int64 { stored.reduce(other) { $0 + $1.size } }

  /// The best place of those that name a body; nil where none of ours does.
  func place(of body: Stored) -> [Int]? {
    declared.filter { body.urls.contains($0.url) }.map(\.place).min {
      $0.lexicographicallyPrecedes($1)
    }
  }

  /// Whether an item could have its body here if everything went that may go for it.
  func fits(_ item: Item) -> Bool {
    let staying = stored.filter { body in
      if body.urls == [item.url] { return false }
      if untouchable.contains(body.body) { return true }
      guard let place = place(of: body) else { return false }
      return !item.place.lexicographicallyPrecedes(place)
    }
    return staying.reduce(other) { $0 + $1.size } + item.size <= limit
  }

  /// Whether everything that may go has gone, where the limit does not hold.
  var isShrunk: Bool {
    used <= limit || stored.allSatisfy { untouchable.contains($0.body) }
  }

  /// Whether one of these, which went, could just as well have stayed.
  func wentInVain(_ gone: [Stored]) -> Bool {
    gone.contains { body in used + body.size <= limit }
  }
}
