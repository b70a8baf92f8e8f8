/// Table of the combinations of type, provider and media type that many entries share.
package struct MetadataTable: Sendable {
  package struct MetadataKey: Hashable, Sendable {
    /// Number in `words` from 1; 0 for none.
    package var type: UInt16 = 0
    package var provider: UInt16 = 0
    package var mime: UInt16 = 0
  }

  private var words: [String] = []
  private var keys: [URLKey] = []
  private var index = KeyTable()
  private var metadataKeys: [MetadataKey] = [MetadataKey()]
  private var numbers: [MetadataKey: UInt16] = [MetadataKey(): 0]
  private var last: (key: MetadataKey, number: UInt16) = (MetadataKey(), 0)
  private var lastLookup: (type: String?, provider: String?, mime: String?, number: UInt16) =
    (nil, nil, nil, 0)

  package init() {}

  /// Returns the number of a word of valid UTF-8, added if new; nil when the table is full.
  mutating func number(ofWord word: RawSpan) -> UInt16? {
    let key = URLKey(word)
    if let known = index.position(of: key, keyAt: { keys[$0] }) { return UInt16(known + 1) }
    guard words.count < Int(UInt16.max) else { return nil }
    words.append(unsafe word.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
    keys.append(key)
    _ = index.insert(key, at: keys.count - 1) { keys[$0] }
    return UInt16(words.count)
  }

  mutating func number(of key: MetadataKey) -> UInt16? {
    if last.key == key { return last.number }
    if let known = numbers[key] {
      last = (key, known)
      return known
    }
    guard metadataKeys.count < Int(UInt16.max) else { return nil }
    let number = UInt16(metadataKeys.count)
    metadataKeys.append(key)
    numbers[key] = number
    last = (key, number)
    return number
  }

  var count: Int {
    metadataKeys.count
  }

  mutating func number(of number: UInt16, in other: MetadataTable) -> UInt16? {
    let key = other.metadataKeys[Int(number)]
    return self.number(
      type: other.word(key.type),
      provider: other.word(key.provider),
      mime: other.word(key.mime)
    )
  }

  mutating func number(type: String?, provider: String?, mime: String?) -> UInt16? {
    if Self.isSame(type, lastLookup.type), Self.isSame(provider, lastLookup.provider),
      Self.isSame(mime, lastLookup.mime)
    {
      return lastLookup.number
    }
    var own = MetadataKey()
    for (word, path) in [
      (type, \MetadataKey.type), (provider, \MetadataKey.provider), (mime, \MetadataKey.mime),
    ] {
      guard let word else { continue }
      let bytes = Array(word.utf8)
      guard let known = unsafe number(ofWord: bytes.span.bytes) else { return nil }
      own[keyPath: path] = known
    }
    guard let number = number(of: own) else { return nil }
    lastLookup = (type, provider, mime, number)
    return number
  }

  /// Compares bytes: Swift's `==` also equates canonically equivalent strings.
  private static func isSame(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.utf8.elementsEqual(b.utf8)
  }

  func describe(_ entry: inout ManifestEntry, as number: UInt16) {
    let key = metadataKeys[Int(number)]
    entry.type = word(key.type)
    entry.provider = word(key.provider)
    entry.mime = word(key.mime)
  }

  func type(_ number: UInt16) -> String? {
    word(metadataKeys[Int(number)].type)
  }

  func numbers(ofTypes types: Set<String>) -> Set<UInt16> {
    let known = words.indices.filter { types.contains(words[$0]) }
    guard !known.isEmpty else { return [] }
    return Set(
      metadataKeys.indices.filter { known.contains(Int(metadataKeys[$0].type) - 1) }.map {
        UInt16($0)
      }
    )
  }

  func provider(_ number: UInt16) -> String? {
    word(metadataKeys[Int(number)].provider)
  }

  func mediaType(_ number: UInt16) -> String? {
    word(metadataKeys[Int(number)].mime)
  }

  func hasMediaType(_ number: UInt16) -> Bool {
    metadataKeys[Int(number)].mime != 0
  }

  private func word(_ number: UInt16) -> String? {
    number == 0 ? nil : words[Int(number) - 1]
  }
}
