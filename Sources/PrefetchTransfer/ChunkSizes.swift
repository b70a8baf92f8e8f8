internal import PrefetchCore

/// Checks chunk sizes, since libcurl ignores what follows the digits: `0x5` would end the body.
struct ChunkSizes {
  private enum State {
    case size(digits: Int)
    case restOfLine
    case data
    case lineEnd
    /// Position in the trailers, which ``ResponseHeadParser`` reads.
    case over
  }

  private static let longestQuote = 32

  private var state = State.size(digits: 0)
  private var left: UInt64 = 0
  private var line: [UInt8] = []

  mutating func read(_ bytes: RawSpan) -> String? {
    var index = 0
    while index < bytes.byteCount {
      let byte = bytes[index]
      switch state {
      case .data:
        let count = Int(min(left, UInt64(bytes.byteCount - index)))
        index += count
        left -= UInt64(count)
        if left == 0 { state = .lineEnd }
        continue
      case .size(let digits):
        guard line.count < Self.longestQuote else { return quote }
        if let digit = Self.digit(byte) {
          left = left << 4 | digit
          state = .size(digits: digits + 1)
        } else if digits > 0, Self.mayFollowSize.contains(byte) {
          state = byte == UInt8(ascii: "\n") ? afterSize : .restOfLine
        } else {
          // Quotes the whole word, which shows what the server meant.
          line += (index..<min(index + Self.longestQuote, bytes.byteCount))
            .map { bytes[$0] }
            .prefix { !Self.mayFollowSize.contains($0) }
          return quote
        }
        line.append(byte)
      case .restOfLine:
        if byte == UInt8(ascii: "\n") { state = afterSize }
      case .lineEnd:
        if byte == UInt8(ascii: "\n") {
          state = .size(digits: 0)
          line.removeAll(keepingCapacity: true)
        }
      case .over:
        return nil
      }
      index += 1
    }
    return nil
  }

  private var afterSize: State { left == 0 ? .over : .data }

  private var quote: String { String(decoding: line, as: UTF8.self) }

  /// Old servers pad a size with blanks that they had reserved.
  private static let mayFollowSize = Array("\r\n; \t".utf8)

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
