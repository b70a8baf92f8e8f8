package import PrefetchDocuments

/// Exports the key table as a JSON Schema with SchemaStore's dialect and name, for editors.
package enum JSONSchema {
  private static let dialect = "http://json-schema.org/draft-07/schema#"
  private static let name = "https://json.schemastore.org/prefetch.json"

  package static var configuration: JSONValue {
    var builder = Builder()
    let root = builder.members(of: Configuration.table.shape, at: "#")
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

  private typealias Members = [(String, JSONValue)]

  private struct Builder {
    var definitions = [ScalarSchema.filledName: JSONValue.object(ScalarSchema.filled)]

    /// Returns the schema of a shape; `orNull` also accepts null, which means unset.
    mutating func schema(of shape: Shape, orNull: Bool = false) -> Members {
      switch shape {
      case .scalar(let scalar):
        let members = reference(to: scalar.schema.name) { _ in scalar.schema.members }
        return orNull ? Self.nullable(members) : members
      case .anything:
        return []
      case .list(let element, let rule):
        let members = schema(ofListOf: element, rule)
        return orNull ? Self.nullable(members) : members
      case .map(let keys, let element):
        let members = schema(ofMappingOf: keys, to: element)
        return orNull ? Self.nullable(members) : members
      case .object(let object):
        // Null is allowed inside the definition, so that deeper errors keep their locations.
        return reference(to: object.name) { builder in
          let members = builder.alternatives(of: object)
          return orNull ? Self.nullable(members) : members
        }
      }
    }

    /// Writes each named definition once, since segments, items and defaults share them.
    private mutating func reference(to name: String?, _ make: (inout Self) -> Members) -> Members {
      guard let name else { return make(&self) }
      if definitions[name] == nil {
        definitions[name] = .null
        definitions[name] = .object(make(&self))
      }
      return [("$ref", .string("#/definitions/\(name)"))]
    }

    private mutating func schema(ofListOf element: Shape, _ rule: ListRule) -> Members {
      var list: Members = [("type", "array"), ("items", .object(schema(of: element)))]
      if rule.minimum > 0 { list.append(("minItems", .integer(Int64(rule.minimum)))) }
      guard rule.acceptsOne else { return list }
      var one = element
      if case .object(let object) = element { one = object.shorthandShape ?? element }
      return [("anyOf", .array([.object(schema(of: one)), .object(list)]))]
    }

    private mutating func schema(ofMappingOf keys: KeyRule, to element: Shape) -> Members {
      switch keys.names {
      case .pattern(let pattern):
        return [
          ("type", "object"), ("propertyNames", ["pattern": .string(pattern)]),
          ("additionalProperties", .object(schema(of: element))),
        ]
      case .known(let names):
        let properties = names.map { ($0.name, JSONValue.object(schema(of: $0.shape ?? element))) }
        return [
          ("type", "object"), ("properties", .object(properties)), ("additionalProperties", false),
        ]
      }
    }

    private mutating func alternatives(of object: ObjectShape) -> Members {
      let pointer = object.name.map { "#/definitions/\($0)" }
      guard let shorthand = object.shorthandShape else { return members(of: object, at: pointer) }
      let full = members(of: object, at: pointer.map { "\($0)/anyOf/1" })
      return [("anyOf", .array([.object(schema(of: shorthand)), .object(full)]))]
    }

    mutating func members(of object: ObjectShape, at pointer: String?) -> Members {
      let needed = object.required.filter { $0.count == 1 }.flatMap(\.self)
      var properties: Members = []
      var spellings: Members = [("^x[_-]", true)]
      for key in object.keys {
        var members = schema(of: key.shape, orNull: !needed.contains(key.name))
        // In draft 7, a `$ref` hides the keywords beside it.
        if members.first?.0 == "$ref" { members = [("allOf", .array([.object(members)]))] }
        members.append(("description", .string(key.help)))
        if let value = key.defaultValue, !key.isSecret, !key.shape.hasKeys {
          members.append(("default", value))
        }
        for name in [key.name] + key.synonyms.map(\.name) {
          properties.append((name, .object(members)))
          guard let pointer, let pattern = KeySpelling.pattern(name) else { continue }
          spellings.append((pattern, ["$ref": .string("\(pointer)/properties/\(name)")]))
        }
      }
      var all: Members = [
        ("type", .string("object")),
        ("properties", .object(properties)),
        ("patternProperties", .object(spellings)),
        ("additionalProperties", .bool(false)),
      ]
      if !needed.isEmpty { all.append(("required", .array(needed.map { .string($0) }))) }
      for group in object.required where group.count > 1 {
        all.append(("anyOf", .array(group.map(Self.presence))))
      }
      return all
    }

    private static func nullable(_ members: Members) -> Members {
      switch members.first {
      case ("anyOf", .array(let choices))? where members.count == 1:
        [("anyOf", .array(choices + [["type": "null"]]))]
      case ("type", .array(let types))?:
        [("type", .array(types + ["null"]))] + members.dropFirst()
      case ("type", let type)?:
        [("type", [type, "null"])] + members.dropFirst()
      case nil:
        []
      default:
        [("anyOf", [.object(members), ["type": "null"]])]
      }
    }

    private static func presence(of key: String) -> JSONValue {
      let isSet: JSONValue = ["not": ["type": "null"]]
      return ["required": [.string(key)], "properties": .object([(key, isSet)])]
    }
  }
}

extension Shape {
  fileprivate var hasKeys: Bool {
    switch self {
    case .object, .map: true
    case .scalar, .list, .anything: false
    }
  }
}
