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
/// Names and values stand end to end in one buffer, since most answers are asked for one or two of
/// their headers and then forgotten.
package struct HeaderBlock: Hashable, Sendable {
  private var text: [UInt8] = []
  /// Where each name and each value ends, in turn.
  private var ends: [UInt32] = []

  package init(_ fields: [HeaderField] = []) {
    for field in fields {
      append(field)
    }
  }

  /// As the bytes of the names and values, and where each of them ends, in turn.
  package init(text: [UInt8], ends: [UInt32]) {
    self.text = text
    self.ends = ends
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
    guard let first = firstIndex(of: name) else { return nil }
    let others = indices[(first + 1)...].filter { isNamed($0, name) }
    guard !others.isEmpty else { return value(at: first) }
    return ([first] + others).map { value(at: $0) }.joined(separator: ", ")
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
    text.append(contentsOf: field.name.utf8)
    ends.append(UInt32(text.count))
    text.append(contentsOf: HeaderText.encode(field.value))
    ends.append(UInt32(text.count))
  }
}

// MARK: - By position

extension HeaderBlock {
  package var indices: Range<Int> {
    0..<ends.count / 2
  }

  package func name(at index: Int) -> String {
    String(decoding: text[nameRange(index)], as: UTF8.self)
  }

  /// The bytes that came, as ``HeaderText`` keeps them.
  package func value(at index: Int) -> String {
    HeaderText.decode(text[valueRange(index)])
  }

  /// In bytes, which tells most names apart already.
  package func nameLength(at index: Int) -> Int {
    nameRange(index).count
  }

  /// Names and values as they stand, without a string for each.
  package func forEachField(_ body: (Span<UInt8>, Span<UInt8>) -> Void) {
    let text = text.span
    for index in indices {
      body(text.extracting(nameRange(index)), text.extracting(valueRange(index)))
    }
  }

  package func firstIndex(of name: String) -> Int? {
    let length = name.utf8.count
    var start = 0
    for index in indices {
      if Int(ends[2 * index]) - start == length, isNamed(index, name) { return index }
      start = Int(ends[2 * index + 1])
    }
    return nil
  }

  /// The first field with the name of another block's.
  package func firstIndex(as other: HeaderBlock, at otherIndex: Int) -> Int? {
    let length = other.nameRange(otherIndex).count
    var start = 0
    for index in indices {
      let isLong = Int(ends[2 * index]) - start == length
      if isLong, isNamed(index, as: other, at: otherIndex) { return index }
      start = Int(ends[2 * index + 1])
    }
    return nil
  }

  package func isNamed(_ index: Int, _ name: String) -> Bool {
    let range = nameRange(index)
    guard range.count == name.utf8.count else { return false }
    var position = range.lowerBound
    for byte in name.utf8 {
      guard ASCII.lowercased(text[position]) == ASCII.lowercased(byte) else { return false }
      position += 1
    }
    return true
  }

  /// Whether the value is that word, whatever its case.
  package func holds(_ index: Int, _ word: String) -> Bool {
    let range = valueRange(index)
    guard range.count == word.utf8.count else { return false }
    return zip(text[range], word.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }

  /// Whether the fields at two places have the same name, whatever its case.
  package func isNamed(_ index: Int, as other: HeaderBlock, at otherIndex: Int) -> Bool {
    let (a, b) = (nameRange(index), other.nameRange(otherIndex))
    guard a.count == b.count else { return false }
    let (mine, theirs) = (text.span.extracting(a), other.text.span.extracting(b))
    for index in mine.indices where mine[index] != theirs[index] {
      guard ASCII.lowercased(mine[index]) == ASCII.lowercased(theirs[index]) else { return false }
    }
    return true
  }

  package func hasSameValue(_ index: Int, as other: HeaderBlock, at otherIndex: Int) -> Bool {
    let (a, b) = (valueRange(index), other.valueRange(otherIndex))
    guard a.count == b.count else { return false }
    let (mine, theirs) = (text.span.extracting(a), other.text.span.extracting(b))
    for index in mine.indices where mine[index] != theirs[index] { return false }
    return true
  }

  /// The fields at some places only.
  package func filtered(_ isKept: (Int) -> Bool) -> HeaderBlock {
    guard var dropped = indices.first(where: { !isKept($0) }) else { return self }
    var kept = HeaderBlock()
    kept.reserve(bytes: text.count, fields: indices.count)
    var first = 0
    while dropped < indices.upperBound {
      kept.append(self, first..<dropped)
      first = dropped + 1
      dropped = indices[first...].first { !isKept($0) } ?? indices.upperBound
    }
    kept.append(self, first..<indices.upperBound)
    return kept
  }

  /// Fields that stand side by side.
  private mutating func append(_ other: HeaderBlock, _ run: Range<Int>) {
    guard !run.isEmpty else { return }
    let start = other.nameRange(run.lowerBound).lowerBound
    let shift = text.count - start
    text.append(contentsOf: other.text[start..<other.valueRange(run.upperBound - 1).upperBound])
    for end in other.ends[2 * run.lowerBound..<2 * run.upperBound] {
      ends.append(UInt32(Int(end) + shift))
    }
  }

  package mutating func append(_ other: HeaderBlock, at index: Int) {
    append(name: other.nameRange(index), value: other.valueRange(index), of: other.text.span)
  }

  /// Takes a field out of a line of bytes as it stands there.
  package mutating func append(name: Range<Int>, value: Range<Int>, of line: Span<UInt8>) {
    for range in [name, value] {
      unsafe line.extracting(range).withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
      ends.append(UInt32(text.count))
    }
  }

  package mutating func append(name: RawSpan, value: RawSpan) {
    unsafe name.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    ends.append(UInt32(text.count))
    unsafe value.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    ends.append(UInt32(text.count))
  }

  package mutating func reserve(bytes: Int, fields: Int) {
    text.reserveCapacity(bytes)
    ends.reserveCapacity(2 * fields)
  }

  private func nameRange(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : Int(ends[2 * index - 1]))..<Int(ends[2 * index])
  }

  private func valueRange(_ index: Int) -> Range<Int> {
    Int(ends[2 * index])..<Int(ends[2 * index + 1])
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
