/// The SHA-256 of a decoded body, which is also its name in the store.
package struct ContentDigest: Hashable, Comparable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64)

  /// Needs exactly 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    let parsed = bytes.withContiguousStorageIfAvailable { unsafe Self.words(of: $0) }
    let words =
      if let parsed { parsed } else {
        unsafe Array(bytes).withUnsafeBufferPointer { unsafe Self.words(of: $0) }
      }
    guard let words else { return nil }
    self.words = words
  }

  /// Needs exactly 32 bytes; nothing is copied.
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

  /// Stands for the absence of a digest where columns have no room for an optional.
  package static let none = ContentDigest(words: (0, 0, 0, 0))

  package var isNone: Bool {
    words == (0, 0, 0, 0)
  }

  private init(words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = words
  }

  /// Four words, the first byte of the digest being the highest of the first word.
  package init(first: UInt64, second: UInt64, third: UInt64, fourth: UInt64) {
    words = (first, second, third, fourth)
  }

  /// Accepts 64 hexadecimal digits, with or without the `sha256:` that ``description`` writes.
  package init?(_ text: String) {
    let digits = text.hasPrefix("sha256:") ? text.dropFirst(7) : text[...]
    guard let bytes = Hexadecimal.decode(digits) else { return nil }
    self.init(bytes: bytes)
  }

  package var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: ordered) { unsafe Array($0) }
  }

  /// Its bytes where they lie, for the length of the call.
  package func withBytes<Value>(_ read: (UnsafeRawBufferPointer) -> Value) -> Value {
    unsafe withUnsafeBytes(of: ordered) { unsafe read($0) }
  }

  /// The first eight bytes as one number, which tells all but crafted digests apart.
  package var mark: Int64 {
    Int64(bitPattern: words.0)
  }

  private var ordered: (UInt64, UInt64, UInt64, UInt64) {
    (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
  }

  /// The first byte alone, which needs no array.
  package var firstByte: UInt8 {
    UInt8(truncatingIfNeeded: words.0 >> 56)
  }

  /// 64 lower-case digits.
  package var hexadecimal: String {
    unsafe withUnsafeBytes(of: ordered) { unsafe Hexadecimal.encode($0) }
  }

  /// The digits of the first bytes alone.
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

/// A digest function that manifests name.
package enum DigestAlgorithm: String, Hashable, Sendable {
  case md5
  case sha1
  case sha256
  case sha384
  case sha512
  /// Go's `h1:` of a module's zip file: over the files in it, so the bytes around them do not count.
  case goZip = "h1-zip"
  /// The same of a module's go.mod, which stands alone.
  case goMod = "h1-mod"

  /// Those over the bytes as they are, which people may write down.
  package static let ofBytes: [Self] = [.md5, .sha1, .sha256, .sha384, .sha512]

  /// Whether it can be taken while the bytes pass, rather than from the whole.
  package var isOfBytes: Bool {
    switch self {
    case .md5, .sha1, .sha256, .sha384, .sha512: true
    case .goZip, .goMod: false
    }
  }

  /// Whether a match proves anything against an attacker.
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

/// What a manifest says a body's digest must be.
package struct ExpectedDigest: Hashable, Sendable {
  package var algorithm: DigestAlgorithm
  package var bytes: [UInt8]

  package init(algorithm: DigestAlgorithm, bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }
}

extension ExpectedDigest: CustomStringConvertible {
  package var description: String {
    algorithm.isOfBytes ? "\(algorithm.rawValue):\(text)" : text
  }

  /// Hexadecimal digits, or `h1:` and base64.
  package var text: String {
    algorithm.isOfBytes ? Hexadecimal.encode(bytes) : "h1:\(Base64.encode(bytes))"
  }

  /// Spelling of the lists that use this function: locks of npm, yarn and pnpm write SHA-384 and
  /// SHA-512 as `sha512-BASE64=`, lists of Python and checksum files write SHA-256 in hexadecimal.
  package var spelled: String {
    switch algorithm {
    case .sha384, .sha512: "\(algorithm.rawValue)-\(Base64.encode(bytes))"
    case .md5, .sha1, .sha256, .goZip, .goMod: text
    }
  }
}
