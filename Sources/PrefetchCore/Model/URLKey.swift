/// 128-bit hash of a URL, never stored: a secret per process keeps attackers from collisions.
package struct URLKey: Hashable, Sendable {
  package let first: UInt64
  package let second: UInt64

  package init(_ url: String) {
    var url = url
    self = url.withUTF8 { unsafe URLKey(UnsafeRawBufferPointer($0)) }
  }

  package init(_ bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe URLKey($0) }
  }

  /// Creates the key of two texts, which depends on where they are divided.
  package init(_ one: RawSpan, and other: RawSpan) {
    let (one, other) = (URLKey(one), URLKey(other))
    let words = Secret.words
    first = Self.folded(one.first ^ other.second, words.0 ^ other.first)
    second = Self.folded(one.second ^ words.1, other.second ^ first)
  }

  private init(_ bytes: UnsafeRawBufferPointer) {
    let secret = Secret.words
    let count = bytes.count
    var first = secret.0 ^ UInt64(count)
    var second = secret.1
    var offset = 0
    while offset + 16 <= count {
      let low = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let high = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
      (first, second) = Self.mixed(first, second, low, high, secret)
      offset += 16
    }
    let (low, high) = unsafe Self.rest(of: bytes, from: offset)
    (first, second) = Self.mixed(first, second, low, high, secret)
    self.first = Self.folded(first ^ secret.2, second ^ secret.3)
    self.second = Self.folded(second ^ secret.2, self.first ^ secret.1)
  }

  package func slot(mask: Int) -> Int {
    Int(truncatingIfNeeded: first) & mask
  }

  /// Returns the last 0 to 15 bytes; the count, which is mixed in too, tells their zeros apart.
  private static func rest(
    of bytes: UnsafeRawBufferPointer,
    from start: Int
  ) -> (UInt64, UInt64) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    var offset = start
    if offset + 8 <= bytes.count {
      low = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    var shift: UInt64 = 0
    while offset < bytes.count {
      high |= unsafe UInt64(bytes[offset]) &<< shift
      shift += 8
      offset += 1
    }
    return (low, high)
  }

  private static func mixed(
    _ first: UInt64,
    _ second: UInt64,
    _ low: UInt64,
    _ high: UInt64,
    _ secret: (UInt64, UInt64, UInt64, UInt64)
  ) -> (UInt64, UInt64) {
    (
      folded(first ^ low, secret.2 ^ high),
      folded(second ^ high ^ secret.3, secret.0 ^ low) ^ first
    )
  }

  private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Odd words, so that no factor is zero by accident.
  private enum Secret {
    static let words: (UInt64, UInt64, UInt64, UInt64) = {
      var source = SystemRandomNumberGenerator()
      return (source.next() | 1, source.next() | 1, source.next() | 1, source.next() | 1)
    }()
  }
}
