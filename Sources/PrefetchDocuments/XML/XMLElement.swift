package struct XMLElement: Sendable {
  /// Local name, or the qualified name of an element from another vocabulary than the root's.
  package var name: String
  package var attributes: [XMLAttribute]
  package var text = ""
  package var children: [XMLElement] = []
  package var isCut = false
  package var byte: Int

  init(_ name: String, _ attributes: [XMLAttribute], byte: Int) {
    self.name = name
    self.attributes = attributes
    self.byte = byte
  }

  package subscript(name: String) -> XMLElement? {
    children.first { $0.name == name }
  }

  package func all(_ name: String) -> [XMLElement] {
    children.filter { $0.name == name }
  }

  package func attribute(_ name: String) -> String? {
    attributes.first { $0.name == name }?.value
  }
}
