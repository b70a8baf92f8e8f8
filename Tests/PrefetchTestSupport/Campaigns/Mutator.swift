internal import PrefetchCore

/// Damages samples in many ways.
package struct Mutator {
  private var state: UInt64
  private let samples: [[UInt8]]

  package init(seed: UInt64, samples: [[UInt8]]) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    self.samples = samples
  }

  package mutating func next() -> [UInt8] {
    var bytes = pick()
    for _ in 0...random(3) where !bytes.isEmpty { mutate(&bytes) }
    return bytes
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let index = random(bytes.count)
    switch random(11) {
    case 0: bytes[index] ^= 1 << UInt8(random(8))
    case 1: bytes.removeSubrange(index...)
    case 2: bytes.removeSubrange(index..<min(bytes.count, index + 1 + random(20)))
    case 3:
      let other = pick()
      bytes = Array(bytes[..<index]) + other[random(other.count)...]
    case 4:
      let piece = bytes[index..<min(bytes.count, index + 1 + random(60))]
      let copies = repeatElement(piece, count: 1 + random(8)).joined()
      bytes.insert(contentsOf: copies, at: random(bytes.count))
    case 5: bytes.insert(UInt8(random(32)), at: index)
    case 6: bytes.insert(contentsOf: Self.tokens[random(Self.tokens.count)].utf8, at: index)
    case 7: bytes[index] = UInt8(random(256))
    case 8: replaceNumber(from: index, in: &bytes)
    case 9:
      let opening = [Array("[".utf8), Array("{\"a\":".utf8), Array("<a>".utf8)][random(3)]
      let deep = repeatElement(opening, count: 1 + random(40)).joined()
      bytes.insert(contentsOf: deep, at: index)
    default: bytes.insert(0xC0 | UInt8(random(64)), at: index)
    }
  }

  /// Replaces the next digits by another number, perhaps one that is too large.
  private mutating func replaceNumber(from index: Int, in bytes: inout [UInt8]) {
    guard let start = bytes[index...].firstIndex(where: ASCII.isDigit) else { return }
    let end = bytes[start...].firstIndex { !ASCII.isDigit($0) } ?? bytes.count
    let number = Self.numbers[random(Self.numbers.count)]
    bytes.replaceSubrange(start..<end, with: number.utf8)
  }

  private mutating func pick() -> [UInt8] {
    samples[random(samples.count)]
  }

  private mutating func random(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int((state >> 11) % UInt64(max(1, bound)))
  }

  private static let numbers = [
    "0", "-1", "01", "9223372036854775807", "9223372036854775808", "1e999", "1.5",
    String(repeating: "9", count: 400),
  ]

  private static let tokens = [
    "\n", "\r", "\t", "\r\n", " ", "\u{FEFF}", "../", "/", "//", "\\", "\"", "'", "<", ">", "&",
    "]]>",
    "<!--", "&#0;", "&lt;", "&x;", "<!DOCTYPE a [<!ENTITY b \"c\">]>", "\0", "%2e%2e/", "@", "u:p@",
    "http://", "https://", "#sha256=", "#", "?", ":", "null", "{}", "[]", ",", "xn--", "ä",
    "\u{202E}",
    String(repeating: "a", count: 9_000), "[::1]", "127.0.0.1:99999", "  out=", "SHA256 (", ") = ",
  ]
}
