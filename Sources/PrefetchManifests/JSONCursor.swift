/// A fast reader of valid JSON bytes that the caller keeps in place; it fails on any doubt.
@safe struct JSONCursor {
  private let start: UnsafeRawPointer
  let count: Int
  var offset = 0

  struct Stretch {
    var start: Int
    var count: Int

    var end: Int { start + count }
    static let absent = Stretch(start: 0, count: -1)
    var isAbsent: Bool { count < 0 }
  }

  @unsafe init?(_ bytes: UnsafeRawBufferPointer) {
    guard let address = bytes.baseAddress else { return nil }
    unsafe start = address
    count = bytes.count
  }

  /// Returns the byte at an offset; past the end zero, which valid JSON never contains.
  @inline(__always)
  func byte(at index: Int) -> UInt8 {
    index < count ? unsafe start.load(fromByteOffset: index, as: UInt8.self) : 0
  }

  @inline(__always)
  private func word(at index: Int) -> UInt64 {
    unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Returns up to eight bytes as one number; the first byte is the lowest.
  @inline(__always)
  func number(of stretch: Stretch) -> UInt64 {
    if stretch.start + 8 <= count {
      let whole = word(at: stretch.start)
      return stretch.count >= 8 ? whole : whole & (1 << UInt64(8 * stretch.count) - 1)
    }
    var number: UInt64 = 0
    for index in (stretch.start..<stretch.start + min(stretch.count, 8)).reversed() {
      number = number << 8 | UInt64(byte(at: index))
    }
    return number
  }

  @inline(__always)
  func bytes(_ stretch: Stretch) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: start + stretch.start, count: max(0, stretch.count))
  }

  func text(_ stretch: Stretch) -> String {
    unsafe String(decoding: bytes(stretch), as: UTF8.self)
  }

  func equals(_ one: Stretch, _ other: Stretch) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe bytes(one).elementsEqual(bytes(other))
  }

  // MARK: Tokens

  /// Skips blanks and returns the next token's first byte without consuming it; zero at the end.
  @inline(__always)
  mutating func next() -> UInt8 {
    while true {
      let byte = byte(at: offset)
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      offset += 1
    }
  }

  @inline(__always)
  mutating func accept(_ byte: UInt8) -> Bool {
    guard next() == byte else { return false }
    offset += 1
    return true
  }

  /// Reads a string without escapes; nil for other strings and for invalid UTF-8.
  mutating func string() -> Stretch? {
    let first = offset + 1
    var index = first
    var high: UInt64 = 0
    while index + 8 <= count {
      let word = word(at: index)
      let stops = Self.stops(word)
      guard stops == 0 else {
        let before = UInt64(stops.trailingZeroBitCount & ~7)
        high |= word & (1 &<< before &- 1)
        index += Int(before / 8)
        return finish(from: first, at: index, holdsHigh: high & Self.highs != 0)
      }
      high |= word
      index += 8
    }
    while index < count {
      let byte = byte(at: index)
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      high |= UInt64(byte)
      index += 1
    }
    return finish(from: first, at: index, holdsHigh: high & Self.highs != 0)
  }

  private mutating func finish(from first: Int, at index: Int, holdsHigh: Bool) -> Stretch? {
    guard byte(at: index) == UInt8(ascii: "\"") else { return nil }
    let stretch = Stretch(start: first, count: index - first)
    guard !holdsHigh || isUTF8(stretch) else { return nil }
    offset = index + 1
    return stretch
  }

  private func isUTF8(_ stretch: Stretch) -> Bool {
    let bytes = unsafe Span<UInt8>(_unsafeBytes: bytes(stretch))
    return (try? UTF8Span(validating: bytes)) != nil
  }

  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Returns the high bits of quotes, backslashes and control characters; only the lowest is exact.
  @inline(__always)
  private static func stops(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let found =
      ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
      | ((word &- ones &* 0x20) & ~word)
    return found & highs
  }

  mutating func wholeNumber() -> Int64? {
    let first = offset
    var value: Int64 = 0
    while true {
      let digit = byte(at: offset) &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ Int64(digit)
      offset += 1
    }
    let length = offset - first
    guard length > 0, length <= 18, endsValue(byte(at: offset)) else { return nil }
    return length > 1 && byte(at: first) == UInt8(ascii: "0") ? nil : value
  }

  mutating func word(_ text: StaticString) -> Bool {
    for index in 0..<text.utf8CodeUnitCount {
      guard unsafe byte(at: offset + index) == text.utf8Start[index] else { return false }
    }
    offset += text.utf8CodeUnitCount
    return endsValue(byte(at: offset))
  }

  private func endsValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x0A, 0x0D, 0x09: true
    default: offset == count
    }
  }

  mutating func simpleValue() -> Bool {
    switch next() {
    case UInt8(ascii: "\""): return string() != nil
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return wholeNumber() != nil
    default: return false
    }
  }
}

// MARK: - Passing over

extension JSONCursor {
  /// Skips a value by its brackets and quotes only; another reader must validate it.
  mutating func skipValue() -> Bool {
    var depth = 0
    repeat {
      switch next() {
      case UInt8(ascii: "\""):
        guard skipString() else { return false }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        offset += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return false }
        depth -= 1
        offset += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { return false }
        offset += 1
      case 0: return false
      default: skipWord()
      }
    } while depth > 0
    return true
  }

  private mutating func skipString() -> Bool {
    offset += 1
    while offset < count {
      let byte = byte(at: offset)
      offset += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return true }
    }
    return false
  }

  private mutating func skipWord() {
    while offset < count {
      let byte = byte(at: offset)
      guard byte > 0x20, !",:{}[]\"".utf8.contains(byte) else { break }
      offset += 1
    }
    // A control character begins no word, but the cursor must still move past it.
    if byte(at: offset) < 0x20, byte(at: offset) > 0, !endsValue(byte(at: offset)) { offset += 1 }
  }
}
