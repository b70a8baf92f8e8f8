package import PrefetchCore

/// A parsed document with order, spelling and locations; a schema decides the types.
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
  /// Location; nil in a format without lines (binary plist) and for values without a source.
  package var location: SourceLocation?
  /// File, option or variable that the value came from, even without a line.
  package var source: String

  package init(_ content: Content, at location: SourceLocation?, in source: String) {
    self.content = content
    self.location = location
    self.source = source
  }
}

/// A value without children; `text` is what the author wrote, such as `0123`, `1.10` or `no`.
package struct Scalar: Hashable, Sendable {
  package enum Notation: String, Hashable, Sendable {
    /// YAML without quotes, whose type only a schema can decide.
    case unquoted = "plain"
    case string
    case number
    case boolean
    case null
    /// RFC 3339 text of a plist `<date>`.
    case date
    /// Base64 text of a plist `<data>`.
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

  package subscript(key: String) -> Node? {
    mapping?.first { $0.key == key }?.value
  }

  package var kindName: String {
    switch content {
    case .scalar(let scalar):
      switch scalar.kind {
      case .unquoted, .string: "text"
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
