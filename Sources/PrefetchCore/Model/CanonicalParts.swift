/// Offsets of the parts of a URL that is written in ``WebURL``'s spelling.
struct CanonicalParts: Sendable {
  let scheme: WebURL.Scheme
  let hostStart: Int
  private(set) var hostEnd = 0
  private(set) var port: Int?
  private(set) var targetStart = 0
  private(set) var queryMark: Int?

  /// Parses a canonical URL; nil also for some canonical ones, which have to take the slow path.
  init?(of text: String) {
    var text = text
    let parts = text.withUTF8 { unsafe CanonicalParts(of: RawSpan(_unsafeElements: $0)) }
    guard let parts else { return nil }
    self = parts
  }

  init?(of text: RawSpan) {
    guard text.byteCount <= WebURL.maximumLength else { return nil }
    if text.begins(with: "https://") {
      (scheme, hostStart) = (.https, 8)
    } else if text.begins(with: "http://") {
      (scheme, hostStart) = (.http, 7)
    } else {
      return nil
    }
    guard let end = Self.hostEnd(in: text, from: hostStart) else { return nil }
    hostEnd = end
    targetStart = end
    if text.byte(at: end) == UInt8(ascii: ":") {
      guard let (number, end) = Self.port(in: text, from: end + 1), number != scheme.defaultPort
      else { return nil }
      port = number
      targetStart = end
    }
    let target = text.extracting(targetStart..<text.byteCount)
    guard WebURL.isCanonical(target: target) else { return nil }
    queryMark = (targetStart..<text.byteCount).first { text.byte(at: $0) == UInt8(ascii: "?") }
  }

  /// Returns the end of an IPv4 address or a lower-case name; its last label begins with a letter.
  private static func hostEnd(in text: RawSpan, from start: Int) -> Int? {
    var offset = start
    var label = start
    while true {
      switch text.byte(at: offset) {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        break
      case UInt8(ascii: "."):
        guard offset > label else { return nil }
        label = offset + 1
      case UInt8(ascii: "/"), UInt8(ascii: ":"):
        let first = text.byte(at: label)
        let isName = first >= UInt8(ascii: "a") && first <= UInt8(ascii: "z")
        guard isName ? offset - start <= 254 : isAddress(text, from: start, to: offset) else {
          return nil
        }
        return offset
      default: return nil
      }
      guard offset - label < 63 else { return nil }
      offset += 1
    }
  }

  private static func isAddress(_ text: RawSpan, from start: Int, to end: Int) -> Bool {
    var (numbers, number, digits) = (1, 0, 0)
    for offset in start..<end {
      let byte = text.byte(at: offset)
      if byte == UInt8(ascii: ".") {
        guard digits > 0 else { return false }
        (numbers, number, digits) = (numbers + 1, 0, 0)
        continue
      }
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10, digits == 0 || number > 0 else { return false }
      number = number * 10 + Int(digit)
      digits += 1
      guard number <= 255 else { return false }
    }
    return numbers == 4 && digits > 0
  }

  private static func port(in text: RawSpan, from start: Int) -> (number: Int, end: Int)? {
    var number = 0
    var offset = start
    while true {
      let digit = text.byte(at: offset) &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      number = number * 10 + Int(digit)
      guard number > 0, number <= 65_535 else { return nil }
      offset += 1
    }
    return offset > start ? (number, offset) : nil
  }
}

extension RawSpan {
  /// Returns the byte at an offset; past the end zero, which no URL holds.
  fileprivate func byte(at offset: Int) -> UInt8 {
    offset < byteCount ? unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 0
  }

  fileprivate func begins(with text: StaticString) -> Bool {
    for offset in 0..<text.utf8CodeUnitCount {
      guard unsafe byte(at: offset) == text.utf8Start[offset] else { return false }
    }
    return true
  }
}
