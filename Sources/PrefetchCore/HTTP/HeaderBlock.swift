/// One header line, as it came or as it will be sent; its value as ``HeaderText`` keeps bytes.
package struct HeaderField: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The headers of one response, in the order they came.
///
/// All fields stand end to end in one buffer, since most answers are asked for one or two of their
/// headers and then forgotten.
package struct HeaderBlock: Hashable, Sendable {
  /// Of each field the lengths of its name and its value, then both of them.
  private var bytes: [UInt8] = []

  package init(_ fields: [HeaderField] = []) {
    for field in fields {
      append(field)
    }
  }

  /// `fill` is given what appends a field, and fills the buffer up.
  package init(byteCount: Int, _ fill: ((RawSpan, RawSpan) -> Void) -> Void) {
    // An array without room is one that all threads share, and setting its count would write to it.
    guard byteCount > 0 else { return }
    unsafe bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { place, count in
      let room = UnsafeMutableRawBufferPointer(place)
      fill { name, value in count = unsafe Self.write(name, value, into: room, at: count) }
    }
  }

  /// As ``HeaderScratch`` has put it together.
  init(copying bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = [UInt8](bytes)
  }

  package var fields: [HeaderField] {
    get { indices.map { HeaderField(name(at: $0), value(at: $0)) } }
    set { self = HeaderBlock(newValue) }
  }

  /// The first value of a name, whatever its case.
  package subscript(name: String) -> String? {
    firstIndex(of: name).map { value(at: $0) }
  }

  /// Every value of a name, joined as RFC 9110 joins list fields.
  package func combined(_ name: String) -> String? {
    guard has(name) else { return nil }
    let values = all(name)
    return values.count == 1 ? values[0] : values.joined(separator: ", ")
  }

  package func all(_ name: String) -> [String] {
    indices.filter { isNamed($0, name) }.map { value(at: $0) }
  }

  package func has(_ name: String) -> Bool {
    firstIndex(of: name) != nil
  }

  /// Replaces every field of that name by one.
  package mutating func set(_ name: String, _ value: String) {
    if has(name) { self = filtered { !isNamed($0, name) } }
    append(HeaderField(name, value))
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
  /// Where the fields begin, which is all that their numbers mean.
  package struct Indices: Sequence, IteratorProtocol {
    fileprivate let block: HeaderBlock
    fileprivate var position = 0

    package mutating func next() -> Int? {
      guard position < block.bytes.count else { return nil }
      defer { position = block.place(position).end }
      return position
    }
  }

  /// Where one field stands.
  private struct Place {
    let nameStart: Int
    let valueStart: Int
    let end: Int

    var name: Range<Int> { nameStart..<valueStart }
    var value: Range<Int> { valueStart..<end }
  }

  static let lengthsSize = MemoryLayout<UInt64>.size

  package var indices: Indices {
    Indices(block: self)
  }

  package func name(at index: Int) -> String {
    String(decoding: bytes[place(index).name], as: UTF8.self)
  }

  /// The bytes that came, as ``HeaderText`` keeps them.
  package func value(at index: Int) -> String {
    HeaderText.decode(bytes[place(index).value])
  }

  /// In bytes, which tells most names apart already.
  package func nameLength(at index: Int) -> Int {
    place(index).name.count
  }

  /// Names and values as they stand, without a string for each.
  package func forEachField(_ body: (Span<UInt8>, Span<UInt8>) -> Void) {
    let span = bytes.span
    for index in indices {
      let place = place(index)
      body(span.extracting(place.name), span.extracting(place.value))
    }
  }

  package func firstIndex(of name: String) -> Int? {
    let length = name.utf8.count
    var index = 0
    while index < bytes.count {
      let place = place(index)
      if place.name.count == length, holds(place.name, name) { return index }
      index = place.end
    }
    return nil
  }

  /// The first field with the name of another block's.
  package func firstIndex(as other: HeaderBlock, at otherIndex: Int) -> Int? {
    let name = other.place(otherIndex).name
    var index = 0
    while index < bytes.count {
      let place = place(index)
      if isSame(place.name, as: other, name, ignoringCase: true) { return index }
      index = place.end
    }
    return nil
  }

  /// Whether the value is that text, byte by byte.
  package func isValue(_ index: Int, _ text: String) -> Bool {
    let range = place(index).value
    guard range.count == text.utf8.count else { return false }
    return bytes[range].elementsEqual(text.utf8)
  }

  package func isNamed(_ index: Int, _ name: String) -> Bool {
    holds(place(index).name, name)
  }

  /// Whether the value is that word, whatever its case.
  package func holds(_ index: Int, _ word: String) -> Bool {
    holds(place(index).value, word)
  }

  private func holds(_ range: Range<Int>, _ word: String) -> Bool {
    guard range.count == word.utf8.count else { return false }
    let text = bytes.span.extracting(range)
    var position = 0
    for byte in word.utf8 {
      let other = text[position]
      guard byte == other || ASCII.lowercased(byte) == ASCII.lowercased(other) else { return false }
      position += 1
    }
    return true
  }

  /// Whether the fields at two places have the same name, whatever its case.
  package func isNamed(_ index: Int, as other: HeaderBlock, at otherIndex: Int) -> Bool {
    isSame(place(index).name, as: other, other.place(otherIndex).name, ignoringCase: true)
  }

  package func hasSameValue(_ index: Int, as other: HeaderBlock, at otherIndex: Int) -> Bool {
    isSame(place(index).value, as: other, other.place(otherIndex).value, ignoringCase: false)
  }

  private func isSame(
    _ range: Range<Int>,
    as other: HeaderBlock,
    _ otherRange: Range<Int>,
    ignoringCase: Bool
  ) -> Bool {
    guard range.count == otherRange.count else { return false }
    let (mine, theirs) = (bytes.span.extracting(range), other.bytes.span.extracting(otherRange))
    for index in mine.indices where mine[index] != theirs[index] {
      guard ignoringCase, ASCII.lowercased(mine[index]) == ASCII.lowercased(theirs[index]) else {
        return false
      }
    }
    return true
  }

  /// The fields at some places only.
  package func filtered(_ isKept: (Int) -> Bool) -> HeaderBlock {
    guard let first = indices.first(where: { !isKept($0) }) else { return self }
    var kept = HeaderBlock()
    kept.bytes.reserveCapacity(bytes.count)
    kept.bytes += bytes[..<first]
    // Fields that stand side by side go together.
    var start = place(first).end
    var position = start
    while position < bytes.count {
      let end = place(position).end
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
    bytes += other.bytes[index..<other.place(index).end]
  }

  package mutating func append(name: RawSpan, value: RawSpan) {
    let start = bytes.count
    bytes += repeatElement(0, count: Self.size(name: name.byteCount, value: value.byteCount))
    _ = unsafe bytes.withUnsafeMutableBytes { unsafe Self.write(name, value, into: $0, at: start) }
  }

  /// The bytes that a field takes.
  package static func size(name: Int, value: Int) -> Int {
    lengthsSize + name + value
  }

  /// Puts a field down in a place that has room for it, and says where the next one goes.
  static func write(
    _ name: RawSpan,
    _ value: RawSpan,
    into room: UnsafeMutableRawBufferPointer,
    at start: Int
  ) -> Int {
    let size = size(name: name.byteCount, value: value.byteCount)
    precondition(size <= room.count - start, "whoever made room knew the size")
    let lengths = UInt64(name.byteCount) | UInt64(value.byteCount) << 32
    unsafe room.storeBytes(of: lengths, toByteOffset: start, as: UInt64.self)
    let end = unsafe write(name, into: room, at: start + lengthsSize)
    return unsafe write(value, into: room, at: end)
  }

  private static func write(
    _ text: RawSpan,
    into room: UnsafeMutableRawBufferPointer,
    at start: Int
  ) -> Int {
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[start...])
    unsafe text.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
    return start + text.byteCount
  }

  private func place(_ index: Int) -> Place {
    let lengths = unsafe bytes.span.bytes.unsafeLoadUnaligned(
      fromByteOffset: index,
      as: UInt64.self
    )
    let nameStart = index + Self.lengthsSize
    let valueStart = nameStart + Int(UInt32(truncatingIfNeeded: lengths))
    return Place(nameStart: nameStart, valueStart: valueStart, end: valueStart + Int(lengths >> 32))
  }
}

/// Bytes of the one alphabet that protocols use.
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
