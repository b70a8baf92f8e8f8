/// The SHA-256 of a decoded body, which is also its name in the store.
package struct ContentDigest: Hashable, Comparable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64)

  /// Needs exactly 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    var parts: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() {
      parts[index / 8] = parts[index / 8] << 8 | UInt64(byte)
    }
    words = (parts[0], parts[1], parts[2], parts[3])
  }

  /// Accepts 64 hexadecimal digits, with or without the `sha256:` that ``description`` writes.
  package init?(_ text: String) {
    let digits = text.hasPrefix("sha256:") ? text.dropFirst(7) : text[...]
    guard let bytes = Hexadecimal.decode(digits) else { return nil }
    self.init(bytes: bytes)
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// The first byte alone, which needs no array.
  package var firstByte: UInt8 {
    UInt8(truncatingIfNeeded: words.0 >> 56)
  }

  /// 64 lower-case digits.
  package var hexadecimal: String {
    Hexadecimal.encode(bytes)
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
package enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case md5
  case sha1
  case sha256
  case sha384
  case sha512

  /// Whether a match proves anything against somebody who wants to deceive us.
  package var isTrustworthy: Bool {
    self >= .sha256
  }

  package var byteCount: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
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
    "\(algorithm.rawValue):\(Hexadecimal.encode(bytes))"
  }
}
