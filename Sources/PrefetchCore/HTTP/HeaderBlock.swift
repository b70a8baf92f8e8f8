/// One header line, as it came or as it will be sent.
package struct HeaderField: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The headers of one response, in the order they came.
package struct HeaderBlock: Hashable, Sendable {
  package var fields: [HeaderField]

  package init(_ fields: [HeaderField] = []) {
    self.fields = fields
  }

  /// The first value of a name, whatever its case.
  package subscript(name: String) -> String? {
    fields.first { Self.isSame($0.name, name) }?.value
  }

  /// Every value of a name, joined as RFC 9110 joins list fields.
  package func combined(_ name: String) -> String? {
    let values = fields.filter { Self.isSame($0.name, name) }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  package func all(_ name: String) -> [String] {
    fields.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  /// Replaces every field of that name by one.
  package mutating func set(_ name: String, _ value: String) {
    fields.removeAll { Self.isSame($0.name, name) }
    fields.append(HeaderField(name, value))
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count
      && zip(a.utf8, b.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}

/// Bytes of the one alphabet that protocols use.
package enum ASCII {
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  package static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}
