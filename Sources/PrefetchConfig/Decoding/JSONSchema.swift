package import PrefetchDocuments

/// The key table as a JSON Schema, for editors: in the dialect and with the name by which the
/// catalogue that they ask, SchemaStore, has its schemas.
package enum JSONSchema {
  private static let dialect = "http://json-schema.org/draft-07/schema#"
  private static let name = "https://json.schemastore.org/prefetch.json"

  package static var configuration: JSONValue {
    var builder = Builder()
    let root = builder.members(of: Configuration.table.shape)
    let head: [(String, JSONValue)] = [
      ("$schema", .string(dialect)),
      ("$id", .string(name)),
      ("title", .string("prefetch configuration")),
      (
        "description",
        .string("What prefetch puts on a machine and by which rules, as prefetch.yaml(5) has it")
      ),
    ]
    let definitions = builder.definitions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return .object(head + root + [("definitions", .object(definitions))])
  }

  private struct Builder {
    var definitions: [String: JSONValue] = [:]

    mutating func schema(of shape: Shape) -> [(String, JSONValue)] {
      switch shape {
      case .scalar(let scalar):
        return scalar.widenedSchema
      case .anything:
        return []
      case .list(let element):
        return [("type", .string("array")), ("items", .object(schema(of: element)))]
      case .map(_, let element):
        return [
          ("type", .string("object")), ("additionalProperties", .object(schema(of: element))),
        ]
      case .object(let object):
        return reference(to: object)
      }
    }

    /// Named mappings are written once, since segments, items and defaults share most of theirs.
    private mutating func reference(to object: ObjectShape) -> [(String, JSONValue)] {
      guard let name = object.name else { return alternatives(of: object) }
      if definitions[name] == nil {
        definitions[name] = .null
        definitions[name] = .object(alternatives(of: object))
      }
      return [("$ref", .string("#/definitions/\(name)"))]
    }

    private mutating func alternatives(of object: ObjectShape) -> [(String, JSONValue)] {
      let full = members(of: object)
      guard let shorthand = object.shorthandShape else { return full }
      return [("anyOf", .array([.object(schema(of: shorthand)), .object(full)]))]
    }

    mutating func members(of object: ObjectShape) -> [(String, JSONValue)] {
      var properties: [(String, JSONValue)] = []
      for key in object.keys {
        var members = schema(of: key.shape)
        // In this dialect nothing else counts beside a reference.
        if members.first?.0 == "$ref" { members = [("allOf", .array([.object(members)]))] }
        members.append(("description", .string(key.help)))
        if let value = key.defaultValue, !key.isSecret, !key.shape.hasParts {
          members.append(("default", value))
        }
        for name in [key.name] + key.synonyms.map(\.name) {
          properties.append((name, .object(members)))
        }
      }
      return [
        ("type", .string("object")),
        ("properties", .object(properties)),
        ("patternProperties", .object([("^x[_-]", .bool(true))])),
        ("additionalProperties", .bool(false)),
      ]
    }
  }
}

extension ScalarShape {
  /// Every scalar may also be text that variables are put into.
  fileprivate var widenedSchema: [(String, JSONValue)] {
    let isAnyText = schema.count == 1 && schema.first?.1 == .string("string")
    guard !isAnyText, !schema.contains(where: { $0.0 == "anyOf" }) else { return schema }
    let variable: [(String, JSONValue)] = [
      ("type", .string("string")), ("pattern", .string("\\$\\{")),
    ]
    return [("anyOf", .array([.object(schema), .object(variable)]))]
  }
}

extension Shape {
  fileprivate var hasParts: Bool {
    switch self {
    case .object, .map: true
    case .scalar, .list, .anything: false
    }
  }
}
