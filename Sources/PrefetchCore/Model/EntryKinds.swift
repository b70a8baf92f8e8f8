/// Table of the combinations of type, provider and media type that many entries share.
package struct EntryKinds: Sendable {
  package struct Combination: Hashable, Sendable {
    /// Number in `words` from 1; 0 for none.
    package var type: UInt16 = 0
    package var provider: UInt16 = 0
    package var mime: UInt16 = 0
  }

  private var words: [String] = []
  private var keys: [URLKey] = []
  private var index = KeyTable()
  private var kinds: [Combination] = [Combination()]
  private var numbers: [Combination: UInt16] = [Combination(): 0]
  private var last: (kind: Combination, number: UInt16) = (Combination(), 0)
  private var lastWords: (type: String?, provider: String?, mime: String?, number: UInt16) =
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

  mutating func number(of kind: Combination) -> UInt16? {
    if last.kind == kind { return last.number }
    if let known = numbers[kind] {
      last = (kind, known)
      return known
    }
    guard kinds.count < Int(UInt16.max) else { return nil }
    let number = UInt16(kinds.count)
    kinds.append(kind)
    numbers[kind] = number
    last = (kind, number)
    return number
  }

  var count: Int {
    kinds.count
  }

  mutating func number(of number: UInt16, in other: EntryKinds) -> UInt16? {
    let kind = other.kinds[Int(number)]
    return self.number(
      type: other.word(kind.type),
      provider: other.word(kind.provider),
      mime: other.word(kind.mime)
    )
  }

  mutating func number(type: String?, provider: String?, mime: String?) -> UInt16? {
    if Self.isSame(type, lastWords.type), Self.isSame(provider, lastWords.provider),
      Self.isSame(mime, lastWords.mime)
    {
      return lastWords.number
    }
    var own = Combination()
    for (word, path) in [
      (type, \Combination.type), (provider, \Combination.provider), (mime, \Combination.mime),
    ] {
      guard let word else { continue }
      let bytes = Array(word.utf8)
      guard let known = unsafe number(ofWord: bytes.span.bytes) else { return nil }
      own[keyPath: path] = known
    }
    guard let number = number(of: own) else { return nil }
    lastWords = (type, provider, mime, number)
    return number
  }

  /// Compares bytes: Swift's `==` also equates canonically equivalent strings.
  private static func isSame(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.utf8.elementsEqual(b.utf8)
  }

  func describe(_ entry: inout ManifestEntry, as number: UInt16) {
    let kind = kinds[Int(number)]
    entry.type = word(kind.type)
    entry.provider = word(kind.provider)
    entry.mime = word(kind.mime)
  }

  func type(_ number: UInt16) -> String? {
    word(kinds[Int(number)].type)
  }

  func numbers(ofTypes types: Set<String>) -> Set<UInt16> {
    let known = words.indices.filter { types.contains(words[$0]) }
    guard !known.isEmpty else { return [] }
    return Set(kinds.indices.filter { known.contains(Int(kinds[$0].type) - 1) }.map { UInt16($0) })
  }

  func provider(_ number: UInt16) -> String? {
    word(kinds[Int(number)].provider)
  }

  func mediaType(_ number: UInt16) -> String? {
    word(kinds[Int(number)].mime)
  }

  func hasMediaType(_ number: UInt16) -> Bool {
    kinds[Int(number)].mime != 0
  }

  private func word(_ number: UInt16) -> String? {
    number == 0 ? nil : words[Int(number) - 1]
  }
}
