import PrefetchDocuments

extension JSONValue {
  init(_ node: Node) {
    switch node.content {
    case .mapping(let entries): self = .object(entries.map { ($0.key, JSONValue($0.value)) })
    case .sequence(let nodes): self = .array(nodes.map { JSONValue($0) })
    case .scalar(let scalar):
      switch scalar.kind {
      case .null: self = .null
      case .boolean: self = .bool(scalar.text == "true")
      case .number:
        self = Int64(scalar.text).map { .integer($0) } ?? .double(Double(scalar.text) ?? 0)
      case .unquoted, .string, .date, .data: self = .string(scalar.text)
      }
    }
  }
}
