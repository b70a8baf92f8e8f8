package import PrefetchDocuments

/// Structure of a configuration value, the documented half of the key table.
package indirect enum Shape: Sendable {
  case scalar(ScalarShape)
  case list(Shape, ListRule = ListRule())
  /// A mapping whose keys the user chooses within a rule.
  case map(KeyRule, Shape)
  case object(ObjectShape)
  case anything

  var expectation: String {
    switch self {
    case .scalar(let scalar): scalar.expectation
    case .list: "a list"
    case .map: "a mapping"
    case .object(let object): object.expectation
    case .anything: "any value"
    }
  }

  package var summary: String {
    switch self {
    case .scalar(let scalar): scalar.summary
    case .list(let element, _): "list of \(element.summary)"
    case .map(let keys, let value): "mapping of \(keys.summary) to \(value.summary)"
    case .object(let object): object.summary
    case .anything: "anything"
    }
  }
}

extension Shape {
  func changing(_ change: @escaping @Sendable (ScalarSchema) -> ScalarSchema) -> Shape {
    guard case .scalar(let scalar) = self else { return self }
    return .scalar(
      ScalarShape(
        expectation: scalar.expectation,
        summary: scalar.summary,
        schema: change(scalar.schema)
      )
    )
  }
}

package struct ListRule: Sendable {
  var minimum = 0
  var acceptsOne = false
}

package struct ScalarShape: Sendable {
  var expectation: String
  var summary: String
  private let makeSchema: @Sendable () -> ScalarSchema

  init(
    expectation: String,
    summary: String,
    schema: @autoclosure @escaping @Sendable () -> ScalarSchema
  ) {
    self.expectation = expectation
    self.summary = summary
    makeSchema = schema
  }

  /// Accepted JSON values, computed on use because few runs need them.
  var schema: ScalarSchema { makeSchema() }
}

package struct ObjectShape: Sendable {
  package var keys: [KeyShape]
  var shorthand: String?
  var name: String?
  /// Groups of keys; a mapping needs one key of each group.
  var required: [[String]] = []

  var expectation: String {
    guard let shorthandShape else { return "a mapping" }
    return "\(shorthandShape.expectation) or a mapping"
  }

  var summary: String {
    guard let shorthandShape else { return "mapping" }
    return "\(shorthandShape.summary), or mapping"
  }

  var shorthandShape: Shape? {
    keys.first { $0.name == shorthand }?.shape
  }

  func key(spelled spelling: String) -> KeyShape? {
    let normalised = KeySpelling.normalised(spelling)
    return keys.first { key in
      key.name == spelling || key.name == normalised
        || key.synonyms.contains { $0.name == spelling || $0.name == normalised }
    }
  }
}

package struct KeyShape: Sendable {
  package struct Synonym: Sendable {
    package var name: String
    package var isOutdated: Bool
  }

  package var name: String
  package var synonyms: [Synonym] = []
  package internal(set) var help = ""
  private let makeShape: @Sendable () -> Shape
  var encodeDefault: @Sendable () -> JSONValue = { .null }
  package var isSecret = false

  init(name: String, shape: @escaping @Sendable () -> Shape) {
    self.name = name
    makeShape = shape
  }

  /// Shape of the value, made on use: a table reads only those of the keys that a file has.
  package var shape: Shape { makeShape() }

  package var defaultValue: JSONValue? {
    let value = encodeDefault()
    return if case .null = value { nil } else { value }
  }
}
