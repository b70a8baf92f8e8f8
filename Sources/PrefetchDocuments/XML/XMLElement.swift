/// An element with those of its parts that its reader asked for.
package struct XMLElement: Sendable {
  /// Without prefix, or with that of another vocabulary than the root's.
  package var name: String
  package var attributes: [XMLAttribute]
  /// The text that stands in it directly, without blanks at its ends.
  package var text = ""
  package var children: [XMLElement] = []
  /// Whether its text was longer than its shape allows, and is not kept.
  package var isCut = false
  /// Where its tag begins.
  package var byte: Int

  init(_ name: String, _ attributes: [XMLAttribute], byte: Int) {
    self.name = name
    self.attributes = attributes
    self.byte = byte
  }

  /// The first child of that name.
  package subscript(name: String) -> XMLElement? {
    children.first { $0.name == name }
  }

  package func all(_ name: String) -> [XMLElement] {
    children.filter { $0.name == name }
  }

  /// The value of an attribute without prefix.
  package func attribute(_ name: String) -> String? {
    attributes.first { $0.name == name }?.value
  }
}
