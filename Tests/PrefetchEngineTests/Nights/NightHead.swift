import PrefetchCore

/// Header lines as bytes: each byte of a value is the scalar of its number, so that Latin-1 is text
/// and nothing is repaired on the way.
struct NightHead: Hashable {
  struct Line: Hashable {
    var name: String
    var value: String
  }

  private(set) var lines: [Line] = []

  init() {}

  init(_ block: HeaderBlock) {
    block.forEachField { name, value in
      lines.append(Line(name: Self.text(name), value: Self.text(value)))
    }
  }

  /// As a request sends them.
  init(_ fields: [HeaderField]) {
    self.init(HeaderBlock(fields))
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    var text = ""
    for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    return text
  }

  /// The first value of a name; setting nil leaves everything as it is.
  subscript(name: String) -> String? {
    get { lines.first { Self.isSame($0.name, name) }?.value }
    set {
      guard let newValue else { return }
      remove(name)
      lines.append(Line(name: name, value: newValue))
    }
  }

  mutating func remove(_ name: String) {
    lines.removeAll { Self.isSame($0.name, name) }
  }

  /// Every line of the newer head takes the place of those with its name (RFC 9111, 3.2).
  func updated(by newer: NightHead) -> NightHead {
    var head = self
    for line in newer.lines { head.remove(line.name) }
    head.lines += newer.lines
    return head
  }

  /// As an answer brings them, byte by byte.
  var fields: [HeaderField] {
    var block = HeaderBlock()
    for line in lines {
      let (name, value) = (Self.bytes(line.name), Self.bytes(line.value))
      unsafe block.append(name: name.span.bytes, value: value.span.bytes)
    }
    return block.fields
  }

  private static func bytes(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    a.lowercased() == b.lowercased()
  }
}

extension NightHead: CustomStringConvertible {
  var description: String {
    lines.map { "\($0.name): \($0.value)" }.joined(separator: " | ")
  }
}
