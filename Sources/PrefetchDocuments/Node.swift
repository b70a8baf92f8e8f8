package import PrefetchCore

/// A document as its author wrote it: order, spelling and places kept, types left to a schema.
package struct Node: Sendable {
  package enum Content: Sendable {
    case scalar(Scalar)
    case sequence([Node])
    case mapping([Entry])
  }

  package struct Entry: Sendable {
    package var key: String
    package var keyLocation: SourceLocation?
    package var value: Node

    package init(key: String, keyLocation: SourceLocation?, value: Node) {
      self.key = key
      self.keyLocation = keyLocation
      self.value = value
    }
  }

  package var content: Content
  /// Nil where the format has no lines (binary plist) or the value came from nowhere.
  package var location: SourceLocation?
  /// The file, option or variable the value came from, also where there is no line.
  package var source: String

  package init(_ content: Content, at location: SourceLocation?, in source: String) {
    self.content = content
    self.location = location
    self.source = source
  }
}

/// A value without parts.
///
/// The text is what was written (`0123`, `1.10`, `no` stay so); the kind is
/// what the syntax says it is, which for plain YAML is nothing at all.
package struct Scalar: Hashable, Sendable {
  package enum Notation: String, Hashable, Sendable {
    /// YAML without quotes: anything.
    case plain
    /// Quoted, or a string by its syntax.
    case string
    case number
    case boolean
    case null
    /// RFC 3339 text from a plist `<date>`.
    case date
    /// Base64 text from a plist `<data>`.
    case data
  }

  package var text: String
  package var kind: Notation

  package init(_ text: String, kind: Notation) {
    self.text = text
    self.kind = kind
  }
}

extension Node {
  package var scalar: Scalar? {
    guard case .scalar(let scalar) = content else { return nil }
    return scalar
  }

  package var sequence: [Node]? {
    guard case .sequence(let nodes) = content else { return nil }
    return nodes
  }

  package var mapping: [Entry]? {
    guard case .mapping(let entries) = content else { return nil }
    return entries
  }

  /// The value of a key spelled exactly so.
  package subscript(key: String) -> Node? {
    mapping?.first { $0.key == key }?.value
  }

  /// What a person calls it in "expected X, found Y".
  package var kindName: String {
    switch content {
    case .scalar(let scalar):
      switch scalar.kind {
      case .plain, .string: "text"
      case .number: "a number"
      case .boolean: "a boolean"
      case .null: "nothing"
      case .date: "a date"
      case .data: "binary data"
      }
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
