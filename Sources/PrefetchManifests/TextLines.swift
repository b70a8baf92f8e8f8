internal import PrefetchCore

/// Lines of a text, ended by LF or CR LF; the caller keeps the bytes in place.
@safe struct TextLines {
  struct Line {
    var number: Int
    var start: Int
    var end: Int

    var range: Range<Int> { start..<end }
  }

  private let start: UnsafeRawPointer?
  let count: Int
  private var offset = 0
  private var number = 0

  @unsafe init(_ bytes: UnsafeRawBufferPointer) {
    unsafe start = bytes.baseAddress
    count = bytes.count
  }

  mutating func next() -> Line? {
    guard offset < count else { return nil }
    number += 1
    let first = offset
    var end = first
    while end < count, byte(at: end) != 0x0A { end += 1 }
    offset = end + 1
    if end > first, byte(at: end - 1) == 0x0D { end -= 1 }
    return Line(number: number, start: first, end: end)
  }

  /// Returns the byte at an offset; zero past the end.
  @inline(__always)
  func byte(at index: Int) -> UInt8 {
    guard index < count, let start = unsafe start else { return 0 }
    return unsafe start.load(fromByteOffset: index, as: UInt8.self)
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: start.map { unsafe $0 + range.lowerBound },
      count: range.count
    )
  }

  func text(_ range: Range<Int>) -> String? {
    let bytes = unsafe Span<UInt8>(_unsafeBytes: bytes(range))
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    return String(copying: text)
  }

  func begins(_ range: Range<Int>, with text: StaticString) -> Bool {
    guard range.count >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount {
      guard unsafe byte(at: range.lowerBound + index) == text.utf8Start[index] else { return false }
    }
    return true
  }

  func isBlank(_ index: Int) -> Bool {
    byte(at: index) == 0x20 || byte(at: index) == 0x09
  }

  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (first, end) = (range.lowerBound, range.upperBound)
    while first < end, isBlank(first) { first += 1 }
    while end > first, isBlank(end - 1) { end -= 1 }
    return first..<end
  }

  func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
    range.first { self.byte(at: $0) == byte }
  }

  /// Returns the location of an offset; columns count Unicode scalars from 1.
  func location(_ offset: Int, in line: Line) -> SourceLocation {
    let scalars = (line.start..<min(max(offset, line.start), line.end)).count {
      byte(at: $0) & 0xC0 != 0x80
    }
    return SourceLocation(file: "manifest", line: line.number, column: scalars + 1)
  }
}
