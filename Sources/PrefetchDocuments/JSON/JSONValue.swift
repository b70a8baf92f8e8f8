/// A value to write as JSON; objects keep the order of their keys.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  package var sortedKeys: JSONValue {
    switch self {
    case .null, .bool, .integer, .double, .string: self
    case .array(let values): .array(values.map(\.sortedKeys))
    case .object(let members):
      .object(
        members
          .map { ($0.0, $0.1.sortedKeys) }
          .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      )
    }
  }
}

extension JSONValue {
  /// Converts a parsed document for display; scalars that JSON cannot express become strings.
  package init(_ node: Node) {
    switch node.content {
    case .sequence(let nodes): self = .array(nodes.map(JSONValue.init(_:)))
    case .mapping(let entries):
      self = .object(entries.map { ($0.key, JSONValue($0.value)) })
    case .scalar(let scalar):
      switch scalar.kind {
      case .null: self = .null
      case .boolean: self = .bool(scalar.text == "true")
      case .number:
        self =
          Int64(scalar.text).map { .integer($0) } ?? Double(scalar.text).map { .double($0) }
          ?? .string(scalar.text)
      case .unquoted, .string, .date, .data: self = .string(scalar.text)
      }
    }
  }
}

extension JSONValue {
  package init?(text: String) {
    let outcome = DocumentReader.read(Array(text.utf8), source: "text", syntax: .json)
    guard let node = outcome.node else { return nil }
    self.init(node)
  }

  package var texts: [String] {
    switch self {
    case .null, .bool, .integer, .double: []
    case .string(let text): [text]
    case .array(let values): values.flatMap(\.texts)
    case .object(let members): members.flatMap(\.1.texts)
    }
  }
}

extension JSONValue: Equatable {
  package static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.integer(let x), .integer(let y)): x == y
    case (.double(let x), .double(let y)): x == y
    case (.string(let x), .string(let y)): x == y
    case (.array(let x), .array(let y)): x == y
    case (.object(let x), .object(let y)): x.elementsEqual(y) { $0.0 == $1.0 && $0.1 == $1.1 }
    default: false
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(nilLiteral: ()) {
    self = .null
  }

  package init(booleanLiteral value: Bool) {
    self = .bool(value)
  }

  package init(integerLiteral value: Int64) {
    self = .integer(value)
  }

  package init(floatLiteral value: Double) {
    self = .double(value)
  }

  package init(stringLiteral value: String) {
    self = .string(value)
  }

  package init(arrayLiteral elements: JSONValue...) {
    self = .array(elements)
  }

  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements)
  }
}
