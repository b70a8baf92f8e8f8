package struct HeaderField: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Headers of one response, in received order and in the form in which they are stored.
///
/// One buffer holds all fields, since most blocks are queried for one or two and dropped.
package struct HeaderBlock: Hashable, Sendable {
  /// Encoded fields: the code of the name (or zero, its length and the name), then the length of
  /// the value and the value.
  private var bytes: [UInt8] = []

  package init(_ fields: [HeaderField] = []) {
    for field in fields {
      append(field)
    }
  }

  init(copying bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = [UInt8](bytes)
  }

  package init?(stored bytes: RawSpan) {
    guard Self.isReadable(bytes) else { return nil }
    self.bytes = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Returns whether stored bytes are headers to their end.
  package static func isReadable(_ bytes: RawSpan) -> Bool {
    var cursor = ByteCursor()
    while let code = cursor.byte(bytes) {
      guard code <= WellKnownNames.highestCode, code != 0 || cursor.text(bytes) != nil,
        cursor.text(bytes) != nil
      else { return false }
    }
    return true
  }

  package func append(to stored: inout [UInt8]) {
    stored += bytes
  }

  package var fields: [HeaderField] {
    indices.map { HeaderField(name(at: $0), value(at: $0)) }
  }

  package subscript(name: HeaderName) -> String? {
    firstIndex(of: name).map { value(at: $0) }
  }

  /// Returns all values of a name, joined as RFC 9110 joins list fields.
  package func combined(_ name: HeaderName) -> String? {
    guard has(name) else { return nil }
    let values = all(name)
    return values.count == 1 ? values[0] : values.joined(separator: ", ")
  }

  package func all(_ name: HeaderName) -> [String] {
    indices.filter { isNamed($0, name) }.map { value(at: $0) }
  }

  package func has(_ name: HeaderName) -> Bool {
    firstIndex(of: name) != nil
  }

  package mutating func append(_ field: HeaderField) {
    unsafe append(
      name: Array(field.name.utf8).span.bytes,
      value: HeaderText.encode(field.value).span.bytes
    )
  }
}

// MARK: - By position

extension HeaderBlock {
  /// Start offsets of the fields; an index is an offset into the buffer.
  package struct Indices: Sequence, IteratorProtocol {
    fileprivate let block: HeaderBlock
    fileprivate var position = 0

    package mutating func next() -> Int? {
      guard position < block.bytes.count else { return nil }
      defer { position = block.extent(at: position).value.upperBound }
      return position
    }
  }

  private struct Extent {
    let code: UInt8
    let spelled: Range<Int>
    let value: Range<Int>
  }

  package var indices: Indices {
    Indices(block: self)
  }

  package func name(at index: Int) -> String {
    let extent = extent(at: index)
    guard extent.code == 0 else { return WellKnownNames.spelling(of: extent.code) }
    return String(decoding: bytes[extent.spelled], as: UTF8.self)
  }

  package func value(at index: Int) -> String {
    HeaderText.decode(bytes[extent(at: index).value])
  }

  func code(at index: Int) -> UInt8 {
    bytes[index]
  }

  /// Passes the bytes of each name and value without making strings.
  package func forEachField(_ body: (Span<UInt8>, Span<UInt8>) -> Void) {
    let span = bytes.span
    for index in indices {
      let extent = extent(at: index)
      let value = span.extracting(extent.value)
      if extent.code == 0 {
        body(span.extracting(extent.spelled), value)
      } else {
        WellKnownNames.withLetters(of: extent.code) { body($0, value) }
      }
    }
  }

  package func firstIndex(of name: HeaderName) -> Int? {
    var index = 0
    while index < bytes.count {
      let extent = extent(at: index)
      if isNamed(extent, name) { return index }
      index = extent.value.upperBound
    }
    return nil
  }

  package func isNamed(_ index: Int, _ name: HeaderName) -> Bool {
    isNamed(extent(at: index), name)
  }

  private func isNamed(_ extent: Extent, _ name: HeaderName) -> Bool {
    guard extent.code == 0 else {
      return WellKnownNames.number(of: extent.code) == name.number
    }
    // Even a well-known name is spelled out if its letter case is unusual.
    return holds(extent.spelled, name.text)
  }

  package func holds(_ index: Int, _ word: String) -> Bool {
    holds(extent(at: index).value, word)
  }

  private func holds(_ range: Range<Int>, _ word: String) -> Bool {
    guard range.count == word.utf8.count else { return false }
    let (text, word) = (bytes.span, word.utf8.span)
    for index in word.indices {
      let (a, b) = (text[range.lowerBound + index], word[index])
      guard a == b || ASCII.lowercased(a) == ASCII.lowercased(b) else { return false }
    }
    return true
  }

  package func isValue(_ index: Int, _ text: String) -> Bool {
    unsafe isSame(extent(at: index).value, text.utf8.span.bytes)
  }

  package func hasSameValue(_ index: Int, as other: HeaderBlock, at otherIndex: Int) -> Bool {
    let range = other.extent(at: otherIndex).value
    return unsafe isSame(extent(at: index).value, other.bytes.span.bytes.extracting(range))
  }

  private func isSame(_ range: Range<Int>, _ other: RawSpan) -> Bool {
    unsafe bytes.span.bytes.extracting(range).isSame(as: other)
  }

  package func filtered(_ isKept: (Int) -> Bool) -> HeaderBlock {
    guard let first = indices.first(where: { !isKept($0) }) else { return self }
    var kept = HeaderBlock()
    kept.bytes.reserveCapacity(bytes.count)
    kept.bytes += bytes[..<first]
    var start = extent(at: first).value.upperBound
    var position = start
    while position < bytes.count {
      let end = extent(at: position).value.upperBound
      if !isKept(position) {
        kept.bytes += bytes[start..<position]
        start = end
      }
      position = end
    }
    kept.bytes += bytes[start...]
    return kept
  }

  package mutating func append(_ other: HeaderBlock, at index: Int) {
    bytes += other.bytes[index..<other.extent(at: index).value.upperBound]
  }

  package mutating func append(name: RawSpan, value: RawSpan) {
    let start = bytes.count
    let room = name.byteCount + value.byteCount + Self.longestOverhead
    bytes += repeatElement(0, count: room)
    let end = unsafe bytes.withUnsafeMutableBytes {
      unsafe Self.write(name, value, into: $0, at: start)
    }
    bytes.removeLast(bytes.count - end)
  }

  static let longestOverhead = 11

  /// Writes a field into a buffer with enough room and returns the end offset.
  static func write(
    _ name: RawSpan,
    _ value: RawSpan,
    into room: UnsafeMutableRawBufferPointer,
    at start: Int
  ) -> Int {
    let size = name.byteCount + value.byteCount + longestOverhead
    precondition(size <= room.count - start, "the reservation knew the size")
    let code = WellKnownNames.code(of: name)
    unsafe room[start] = code
    var end = start + 1
    if code == 0 { end = unsafe write(name, into: room, at: end) }
    end = unsafe write(value, into: room, at: end)
    return end
  }

  private static func write(
    _ text: RawSpan,
    into room: UnsafeMutableRawBufferPointer,
    at start: Int
  ) -> Int {
    var (end, rest) = (start, text.byteCount)
    while rest >= 0x80 {
      unsafe room[end] = UInt8(rest & 0x7f) | 0x80
      (end, rest) = (end + 1, rest >> 7)
    }
    unsafe room[end] = UInt8(rest)
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[(end + 1)...])
    unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    return end + 1 + text.byteCount
  }

  private func extent(at index: Int) -> Extent {
    let code = bytes[index]
    let spelled = code == 0 ? text(at: index + 1) : index + 1..<index + 1
    return Extent(code: code, spelled: spelled, value: text(at: spelled.upperBound))
  }

  private func text(at start: Int) -> Range<Int> {
    let first = Int(bytes[start])
    guard first >= 0x80 else { return start + 1..<start + 1 + first }
    var (offset, count, shift) = (start, 0, 0)
    while true {
      let byte = Int(bytes[offset])
      count |= (byte & 0x7f) << shift
      (offset, shift) = (offset + 1, shift + 7)
      if byte < 0x80 { return offset..<offset + count }
    }
  }
}

package enum ASCII {
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  package static func equalsIgnoringCase(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count
      && zip(a.utf8, b.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  package static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}
