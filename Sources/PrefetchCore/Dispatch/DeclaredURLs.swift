/// First mention of each URL in a run; several segments may name the same URL.
struct DeclaredURLs: Sendable {
  struct Mention: Sendable {
    let key: URLKey
    let segment: UInt32
    let entry: UInt32
    /// Number of the item; negative if the entry was only counted.
    var item: Int32
  }

  private var table = KeyTable()
  private var mentions: [Mention] = []

  mutating func recordMention(_ key: URLKey, segment: Int, entry: Int) -> Mention? {
    let known = table.insert(key, at: mentions.count) { mentions[$0].key }
    if let known { return mentions[known] }
    mentions.append(
      Mention(key: key, segment: UInt32(segment), entry: UInt32(entry), item: -1)
    )
    return nil
  }

  mutating func set(item: Int, for key: URLKey, unlessKnown: Bool) {
    guard let position = table.position(of: key, keyAt: { mentions[$0].key }),
      !unlessKnown || mentions[position].item < 0
    else { return }
    mentions[position].item = Int32(item)
  }
}
