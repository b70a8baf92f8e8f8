/// SHA-256 of a decoded body; also the body's name in the store.
package struct ContentDigest: Hashable, Comparable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64)

  package init?(bytes: some Collection<UInt8>) {
    let parsed = bytes.withContiguousStorageIfAvailable { unsafe Self.words(of: $0) }
    let words =
      if let parsed { parsed } else {
        unsafe Array(bytes).withUnsafeBufferPointer { unsafe Self.words(of: $0) }
      }
    guard let words else { return nil }
    self.words = words
  }

  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard let words = unsafe Self.words(of: bytes.bindMemory(to: UInt8.self)) else { return nil }
    self.words = words
  }

  private static func words(
    of bytes: UnsafeBufferPointer<UInt8>
  ) -> (UInt64, UInt64, UInt64, UInt64)? {
    guard bytes.count == 32 else { return nil }
    let raw = UnsafeRawBufferPointer(bytes)
    func word(_ index: Int) -> UInt64 {
      unsafe UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    return (word(0), word(1), word(2), word(3))
  }

  /// Placeholder for no digest, in columns without room for an optional.
  package static let none = ContentDigest(words: (0, 0, 0, 0))

  package var isNone: Bool {
    words == (0, 0, 0, 0)
  }

  private init(words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = words
  }

  /// Creates a digest from four words, the first byte being the highest of the first word.
  package init(first: UInt64, second: UInt64, third: UInt64, fourth: UInt64) {
    words = (first, second, third, fourth)
  }

  package init?(_ text: String) {
    let digits = text.hasPrefix("sha256:") ? text.dropFirst(7) : text[...]
    guard let bytes = Hexadecimal.decode(digits) else { return nil }
    self.init(bytes: bytes)
  }

  package var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: ordered) { unsafe Array($0) }
  }

  /// Calls `read` with the bytes, which are valid during the call only.
  package func withBytes<Value>(_ read: (UnsafeRawBufferPointer) -> Value) -> Value {
    unsafe withUnsafeBytes(of: ordered) { unsafe read($0) }
  }

  /// First eight bytes as a number, which tells all but crafted digests apart.
  package var mark: Int64 {
    Int64(bitPattern: words.0)
  }

  private var ordered: (UInt64, UInt64, UInt64, UInt64) {
    (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
  }

  package var firstByte: UInt8 {
    UInt8(truncatingIfNeeded: words.0 >> 56)
  }

  package var hexadecimal: String {
    unsafe withUnsafeBytes(of: ordered) { unsafe Hexadecimal.encode($0) }
  }

  package func hexadecimal(ofFirst count: Int) -> String {
    unsafe withUnsafeBytes(of: ordered) { unsafe Hexadecimal.encode($0.prefix(count)) }
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.words == b.words
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.words < b.words
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}

extension ContentDigest: CustomStringConvertible {
  package var description: String {
    "sha256:\(hexadecimal)"
  }
}

package enum DigestAlgorithm: String, Hashable, Sendable {
  case md5
  case sha1
  case sha256
  case sha384
  case sha512
  /// Go's `h1:` hash of a module's zip file, over the files in it and not over its bytes.
  case goZip = "h1-zip"
  case goMod = "h1-mod"

  package static let ofBytes: [Self] = [.md5, .sha1, .sha256, .sha384, .sha512]

  package var isOfBytes: Bool {
    switch self {
    case .md5, .sha1, .sha256, .sha384, .sha512: true
    case .goZip, .goMod: false
    }
  }

  package var isTrustworthy: Bool {
    self >= .sha256
  }

  package var byteCount: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256, .goZip, .goMod: 32
    case .sha384: 48
    case .sha512: 64
    }
  }
}

extension DigestAlgorithm: Comparable {
  package static func < (a: Self, b: Self) -> Bool {
    a.byteCount < b.byteCount
  }
}

package struct ExpectedDigest: Hashable, Sendable {
  package var algorithm: DigestAlgorithm
  package var bytes: [UInt8]
  /// Whether the lock file declares the digest, rather than the list; equality ignores it.
  package var isOfLockfile = false

  package init(algorithm: DigestAlgorithm, bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }

  package init(lockedTo digest: ContentDigest) {
    self.init(algorithm: .sha256, bytes: digest.bytes)
    isOfLockfile = true
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.algorithm == b.algorithm && a.bytes == b.bytes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(algorithm)
    hasher.combine(bytes)
  }
}

extension ExpectedDigest: CustomStringConvertible {
  package var description: String {
    algorithm.isOfBytes ? "\(algorithm.rawValue):\(text)" : text
  }

  package var text: String {
    algorithm.isOfBytes ? Hexadecimal.encode(bytes) : "h1:\(Base64.encode(bytes))"
  }

  /// Spelling in lists: `sha512-BASE64=` in locks of npm, yarn and pnpm (SHA-384, SHA-512),
  /// hexadecimal in lists of Python and checksum files (SHA-256).
  package var spelled: String {
    switch algorithm {
    case .sha384, .sha512: "\(algorithm.rawValue)-\(Base64.encode(bytes))"
    case .md5, .sha1, .sha256, .goZip, .goMod: text
    }
  }
}
