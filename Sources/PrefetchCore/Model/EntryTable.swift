/// The entries of a manifest as columns: a million of them take some 150 bytes each.
///
/// Most entries say where the content is and perhaps its size, SHA-256, id and type; these live in
/// the columns alone. Whatever says more is kept whole beside them.
package struct EntryTable: Sendable {
  private struct Row: Sendable {
    var start: Int
    /// Of the URL; the id, where there is one, follows it.
    var length: UInt16
    var idLength: UInt16
    /// Into ``words``, zero for none.
    var type: UInt16 = 0
    var provider: UInt16 = 0
    /// Into ``origins``.
    var origin: UInt32
    /// Into ``special``, from 1; zero for an entry that has columns only.
    var special: UInt32 = 0
    /// Negative for unknown.
    var size: Int64
  }

  private var text: [UInt8] = []
  private var rows: [Row] = []
  private var keys: [URLKey] = []
  /// In step with the rows where any has one; a digest of zeros stands for none.
  private var digests: [ContentDigest] = []
  private var special: [ManifestEntry] = []
  private var words: [String] = []
  private var wordNumbers: [String: UInt16] = [:]
  /// One URL for each scheme, host and port, with the bytes that begin the URLs of that origin.
  private var origins: [WebURL] = []
  private var originNumbers: [WebURL.Origin: UInt32] = [:]
  private var prefixes: [[UInt8]] = []
  private var index = KeyTable()
  /// How often a URL was named again; the first mention counts.
  package private(set) var duplicateCount = 0

  package init() {}

  package init(_ entries: some Sequence<ManifestEntry>) {
    for entry in entries { append(entry) }
  }

  package mutating func reserveCapacity(_ count: Int, textBytes: Int = 0) {
    rows.reserveCapacity(count)
    keys.reserveCapacity(count)
    digests.reserveCapacity(count)
    text.reserveCapacity(textBytes)
    if index.count == 0 { index = KeyTable(minimumCapacity: count) }
  }

  /// A URL that is named already is passed over.
  package mutating func append(_ entry: ManifestEntry) {
    var url = entry.url.string
    let key = URLKey(url)
    guard admit(key) else { return }
    let origin = number(of: entry.url)
    let start = text.count
    url.withUTF8 { unsafe text.append(contentsOf: $0) }
    var row = Row(
      start: start,
      length: UInt16(clamping: text.count - start),
      idLength: 0,
      origin: origin,
      size: entry.size ?? -1
    )
    special.append(entry)
    row.special = UInt32(special.count)
    rows.append(row)
    let sha256 = entry.digests.first { $0.algorithm == .sha256 }
    digests.append(sha256.flatMap { ContentDigest(bytes: $0.bytes) } ?? .none)
  }

  /// An entry that has nothing but these, read without making any string.
  ///
  /// `url` must be absolute, canonical and of the origin `number`: see ``plainOrigin(of:)``.
  /// False where the URL is named already.
  @discardableResult
  package mutating func appendPlain(
    url: UnsafeBufferPointer<UInt8>,
    origin: UInt32,
    id: UnsafeBufferPointer<UInt8>?,
    type: UInt16,
    provider: UInt16,
    size: Int64?,
    digest: ContentDigest?
  ) -> Bool {
    guard admit(unsafe URLKey(url)) else { return false }
    let start = text.count
    unsafe text.append(contentsOf: url)
    if let id = unsafe id { unsafe text.append(contentsOf: id) }
    rows.append(
      Row(
        start: start,
        length: UInt16(clamping: url.count),
        idLength: unsafe UInt16(clamping: id?.count ?? 0),
        type: type,
        provider: provider,
        origin: origin,
        size: size ?? -1
      )
    )
    digests.append(digest ?? .none)
    return true
  }

  /// The number of the origin that these bytes begin with, when the rest needs no repair; nil
  /// sends the URL the long way through ``WebURL``.
  package func plainOrigin(of url: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard url.count <= WebURL.maximumLength else { return nil }
    for (number, prefix) in prefixes.enumerated().reversed() {
      guard unsafe Self.begins(url, with: prefix) else { continue }
      return unsafe WebURL.isCanonicalTarget(url[prefix.count...]) ? UInt32(number) : nil
    }
    return nil
  }

  /// Makes the origin of a URL known to ``plainOrigin(of:)``.
  package mutating func number(of url: WebURL) -> UInt32 {
    if let known = originNumbers[url.origin] { return known }
    let number = UInt32(origins.count)
    originNumbers[url.origin] = number
    origins.append(url)
    prefixes.append(Array("\(url.scheme.rawValue)://\(url.authority)".utf8))
    return number
  }

  /// The number of a type or provider; nil once there are too many different ones.
  package mutating func number(ofWord word: String) -> UInt16? {
    if let known = wordNumbers[word] { return known }
    guard words.count < Int(UInt16.max) else { return nil }
    words.append(word)
    wordNumbers[word] = UInt16(words.count)
    return UInt16(words.count)
  }

  private mutating func admit(_ key: URLKey) -> Bool {
    let position = keys.count
    let known = index.insert(key, at: position) { keys[$0] }
    guard known == nil else {
      duplicateCount += 1
      return false
    }
    keys.append(key)
    return true
  }

  private static func begins(
    _ bytes: UnsafeBufferPointer<UInt8>,
    with prefix: [UInt8]
  ) -> Bool {
    guard bytes.count > prefix.count, unsafe bytes[prefix.count] == UInt8(ascii: "/") else {
      return false
    }
    return prefix.indices.allSatisfy { unsafe bytes[$0] == prefix[$0] }
  }
}

// MARK: - Columns

extension EntryTable {
  package func key(at position: Int) -> URLKey {
    keys[position]
  }

  package func position(of key: URLKey) -> Int? {
    index.position(of: key) { keys[$0] }
  }

  package func size(at position: Int) -> Int64? {
    rows[position].size < 0 ? nil : rows[position].size
  }

  /// The declared SHA-256 where the entry says no more than the columns hold.
  package func plainDigest(at position: Int) -> ContentDigest? {
    rows[position].special == 0 && !digests[position].isNone ? digests[position] : nil
  }

  /// Whether the entry says more than the columns hold.
  package func isSpecial(at position: Int) -> Bool {
    rows[position].special != 0
  }

  /// Any URL of the entry's origin.
  package func origin(at position: Int) -> WebURL {
    origins[Int(rows[position].origin)]
  }

  /// As ``WebURL/authority``.
  package func authority(at position: Int) -> String {
    origins[Int(rows[position].origin)].authority
  }

  /// The number of the entry's origin among ``originCount``.
  package func originNumber(at position: Int) -> Int {
    Int(rows[position].origin)
  }

  package var allOrigins: [WebURL] {
    origins
  }

  /// As ``ManifestEntry/descriptionHash`` of the whole entry.
  package func descriptionHash(at position: Int) -> UInt64 {
    let row = rows[position]
    if row.special > 0 { return special[Int(row.special) - 1].descriptionHash }
    var hash = StableHash()
    let idStart = row.start + Int(row.length)
    hash.combine(row.idLength == 0 ? nil : text[idStart..<idStart + Int(row.idLength)])
    hash.combine(row.provider == 0 ? nil : words[Int(row.provider) - 1])
    hash.combine(row.type == 0 ? nil : words[Int(row.type) - 1])
    hash.combine(Int64?.none)
    return hash.value
  }

  package func url(at position: Int) -> String {
    let row = rows[position]
    return String(decoding: text[row.start..<row.start + Int(row.length)], as: UTF8.self)
  }
}

extension EntryTable: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { rows.count }

  package subscript(position: Int) -> ManifestEntry {
    let row = rows[position]
    if row.special > 0 { return special[Int(row.special) - 1] }
    let origin = origins[Int(row.origin)]
    var entry = ManifestEntry(
      url: WebURL(canonical: url(at: position), like: origin)
    )
    if row.idLength > 0 {
      let start = row.start + Int(row.length)
      entry.id = String(decoding: text[start..<start + Int(row.idLength)], as: UTF8.self)
    }
    entry.type = row.type == 0 ? nil : words[Int(row.type) - 1]
    entry.provider = row.provider == 0 ? nil : words[Int(row.provider) - 1]
    entry.size = size(at: position)
    if !digests[position].isNone {
      entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digests[position].bytes)]
    }
    return entry
  }
}

extension EntryTable: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.elementsEqual(b)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
  }
}

extension EntryTable: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: ManifestEntry...) {
    self.init(elements)
  }
}
