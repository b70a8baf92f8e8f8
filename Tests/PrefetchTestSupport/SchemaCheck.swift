package import PrefetchDocuments

/// Validates a document against a JSON Schema, as far as the project's schemas use its keywords.
///
/// Keys that the schema does not name are errors, so that every key of a document is described.
package struct SchemaCheck {
  private let root: Node
  private var problems: [String] = []

  private init(_ schema: Node) {
    root = schema
  }

  package static func problems(of document: Node, schema: Node) -> [String] {
    var check = SchemaCheck(schema)
    check.check(document, schema, at: "$")
    return check.problems
  }

  private mutating func check(_ value: Node, _ schema: Node, at path: String) {
    for entry in schema.mapping ?? [] {
      let rule = entry.value
      switch entry.key {
      case "$schema", "$id", "$defs", "title", "description": break
      case "$ref": reference(value, rule.scalar?.text ?? "", at: path)
      case "anyOf": anyOf(value, rule.sequence ?? [], at: path)
      case "type": type(value, rule, at: path)
      case "const": expect(value.literal == rule.literal, "\(path) must be \(rule.literal)")
      case "enum":
        let allowed = (rule.sequence ?? []).map(\.literal)
        expect(allowed.contains(value.literal), "\(path): \(value.literal) is not in the enum")
      case "required":
        for key in rule.sequence?.compactMap(\.scalar?.text) ?? [] where value.mapping != nil {
          expect(value[key] != nil, "\(path).\(key) is missing")
        }
      case "properties": properties(value, schema, at: path)
      case "additionalProperties": break
      case "items":
        for (index, element) in (value.sequence ?? []).enumerated() {
          check(element, rule, at: "\(path)[\(index)]")
        }
      case "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMaximum",
        "maxItems":
        bound(value, entry.key, rule.scalar?.text ?? "", at: path)
      default:
        problems.append("the schema says `\(entry.key)`, which this check does not know")
      }
    }
  }

  private mutating func expect(_ isFine: Bool, _ problem: @autoclosure () -> String) {
    if !isFine { problems.append(problem()) }
  }

  private mutating func reference(_ value: Node, _ name: String, at path: String) {
    let key = name.split(separator: "/").last.map(String.init) ?? ""
    guard name == "#/$defs/\(key)", let target = root["$defs"]?[key] else {
      problems.append("the schema refers to \(name), which is nowhere")
      return
    }
    check(value, target, at: path)
  }

  private mutating func anyOf(_ value: Node, _ choices: [Node], at path: String) {
    var found: [[String]] = []
    for choice in choices {
      var attempt = SchemaCheck(root)
      attempt.check(value, choice, at: path)
      if attempt.problems.isEmpty { return }
      found.append(attempt.problems)
    }
    problems.append("\(path) is none of: \(found.map { $0.joined(separator: ", ") })")
  }

  private mutating func type(_ value: Node, _ rule: Node, at path: String) {
    let names = (rule.sequence ?? [rule]).compactMap(\.scalar?.text)
    let isFine =
      names.contains(value.typeName)
      || (value.typeName == "integer" && names.contains("number"))
    expect(isFine, "\(path) is \(value.typeName), not \(names.joined(separator: " or "))")
  }

  private mutating func properties(_ value: Node, _ schema: Node, at path: String) {
    for entry in value.mapping ?? [] {
      if let rule = schema["properties"]?[entry.key] {
        check(entry.value, rule, at: "\(path).\(entry.key)")
      } else {
        problems.append("\(path).\(entry.key) is not in the schema")
      }
    }
  }

  private mutating func bound(_ value: Node, _ word: String, _ limit: String, at path: String) {
    let text = value.scalar?.kind == .string ? value.scalar?.text : nil
    let number = value.scalar?.kind == .number ? value.scalar.flatMap { Double($0.text) } : nil
    let bound = Double(limit) ?? 0
    let isFine =
      switch word {
      case "pattern": text.map { Self.matches($0, limit) } ?? true
      case "minLength": text.map { $0.unicodeScalars.count >= Int(bound) } ?? true
      case "maxLength": text.map { $0.unicodeScalars.count <= Int(bound) } ?? true
      case "minimum": number.map { $0 >= bound } ?? true
      case "maximum": number.map { $0 <= bound } ?? true
      case "exclusiveMaximum": number.map { $0 < bound } ?? true
      default: (value.sequence?.count ?? 0) <= Int(bound)
      }
    expect(isFine, "\(path) breaks \(word) \(limit)")
  }

  private static func matches(_ text: String, _ pattern: String) -> Bool {
    guard let regex = try? Regex(pattern) else { return false }
    return text.contains(regex)
  }
}

extension Node {
  /// Scalar in JSON's spelling, in which `1` and `"1"` differ.
  fileprivate var literal: String {
    guard let scalar else { return kindName }
    return scalar.kind == .string ? "\"\(scalar.text)\"" : scalar.text
  }

  fileprivate var typeName: String {
    switch content {
    case .sequence: "array"
    case .mapping: "object"
    case .scalar(let scalar):
      switch scalar.kind {
      case .number: scalar.text.contains { ".eE".contains($0) } ? "number" : "integer"
      case .boolean: "boolean"
      case .null: "null"
      case .unquoted, .string, .date, .data: "string"
      }
    }
  }

  /// All keys of all objects in the value.
  package var allKeys: Set<String> {
    switch content {
    case .scalar: []
    case .sequence(let nodes): nodes.reduce(into: []) { $0.formUnion($1.allKeys) }
    case .mapping(let entries):
      entries.reduce(into: []) { $0.formUnion($1.value.allKeys.union([$1.key])) }
    }
  }
}
