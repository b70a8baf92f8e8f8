import PrefetchCore

/// Header lines as bytes: each byte becomes the scalar of its value, so that Latin-1 stays intact.
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

  /// Creates the head of a request.
  init(_ fields: [HeaderField]) {
    self.init(HeaderBlock(fields))
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    var text = ""
    for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    return text
  }

  /// First value of a name; setting nil has no effect.
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

  /// Returns the head with the lines that a newer head replaces (RFC 9111, 3.2).
  func updated(by newer: NightHead) -> NightHead {
    var head = self
    for line in newer.lines { head.remove(line.name) }
    head.lines += newer.lines
    return head
  }

  /// Header fields of a response, byte by byte.
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
