/// Lock of lists: the items of the segments that it names, each with its URL, size and SHA-256.
package struct Lockfile: Hashable, Sendable {
  /// Name of the file beside the configuration.
  package static let name = "prefetch.lock"

  /// Platform whose items it has, such as `linux/x86_64`; nil if no list depends on it.
  package var platform: String?
  /// Segments in the order of their names.
  package private(set) var segments: [LockedSegment] = []

  package init() {}

  package subscript(name: String) -> LockedSegment? {
    segments.first { $0.name == name }
  }

  /// Adds a segment, or replaces the one of its name.
  package mutating func set(_ segment: LockedSegment) {
    segments.removeAll { $0.name == segment.name }
    let place = segments.firstIndex { $0.name > segment.name } ?? segments.endIndex
    segments.insert(segment, at: place)
  }

  package mutating func remove(_ name: String) {
    segments.removeAll { $0.name == name }
  }
}

package struct LockedSegment: Hashable, Sendable {
  package var name: String
  /// Digest of the segment's list; nil if the configuration declares its items.
  package var list: ContentDigest?
  /// Items in the order of their URLs, each with size and SHA-256.
  package private(set) var items = EntryTable()
  /// Files of items that consist of several, in the order of their lines.
  package private(set) var pieces: [LockedPiece] = []
  private var digestsByItem: [String: [String: ContentDigest]] = [:]

  package init(name: String) {
    self.name = name
  }

  /// Adds items and pieces, in any order.
  package mutating func add(_ entries: EntryTable, _ files: [LockedPiece] = []) {
    var all = items
    all.append(contentsOf: entries)
    let urls = all.indices.map(all.url)
    items = EntryTable()
    items.append(all, at: all.indices.sorted { urls[$0] < urls[$1] })
    pieces = (pieces + files).sorted()
    for file in files { digestsByItem[file.item, default: [:]][file.key] = file.digest }
    guard !digestsByItem.isEmpty else { return }
    for position in entries.indices {
      let url = entries.url(at: position)
      digestsByItem[url]?[url] = entries.columnDigest(at: position)
    }
  }

  /// Returns the digests of an item's files by their keys, that of its own document by its URL;
  /// nil for an item of one file.
  package func files(of item: String) -> [String: ContentDigest]? {
    digestsByItem[item]
  }

  package var lineCount: Int { items.count + pieces.count }

  package var byteCount: Int64 {
    pieces.reduce(items.sizes.known) { $0.addingSaturated($1.size) }
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.name == b.name && a.list == b.list && a.items == b.items && a.pieces == b.pieces
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(items)
    hasher.combine(pieces)
  }
}

/// File of an item that consists of several, such as a piece of a stream.
package struct LockedPiece: Hashable, Comparable, Sendable {
  /// URL of the item.
  package var item: String
  /// Key by which runs find the file, ``BundleFile/key``: its URL without ignored parameters.
  package var key: String
  package var size: Int64
  package var digest: ContentDigest

  package init(item: String, key: String, size: Int64, digest: ContentDigest) {
    self.item = item
    self.key = key
    self.size = size
    self.digest = digest
  }

  package static func < (a: Self, b: Self) -> Bool {
    (a.item, a.key, a.digest) < (b.item, b.key, b.digest)
  }
}
