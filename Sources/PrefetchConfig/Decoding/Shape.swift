package import PrefetchDocuments

/// What may stand at a place of the configuration: the half of the key table that pages read.
package indirect enum Shape: Sendable {
  case scalar(ScalarShape)
  case list(Shape, ListRule = ListRule())
  /// A mapping whose keys the user chooses among those that a rule allows.
  case map(KeyRule, Shape)
  case object(ObjectShape)
  case anything

  /// For "expected …, found …".
  var expectation: String {
    switch self {
    case .scalar(let scalar): scalar.expectation
    case .list: "a list"
    case .map: "a mapping"
    case .object(let object): object.expectation
    case .anything: "any value"
    }
  }

  /// For the type column of a reference page.
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
  /// Returns the shape with another schema, where it is a scalar.
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

/// Lengths and forms that a list may have.
package struct ListRule: Sendable {
  var minimum = 0
  /// Whether a scalar may stand for a list of one.
  var takesOne = false
}

/// A value without parts.
package struct ScalarShape: Sendable {
  /// With its article: `a size`.
  var expectation: String
  /// One word or the choices: `size`, `use|defer`.
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

  /// The JSON values that may stand for the scalar; made where it is asked for, which few runs do.
  var schema: ScalarSchema { makeSchema() }
}

/// A mapping whose keys are known.
package struct ObjectShape: Sendable {
  package var keys: [KeyShape]
  /// The key that a value which is no mapping stands for.
  var shorthand: String?
  /// A name for what is described once and referred to often.
  var name: String?
  /// Groups of keys; a mapping must have one key of each group.
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

  /// The key that a spelling means: as it is, in another style, or one of its other names.
  func key(spelled spelling: String) -> KeyShape? {
    let normalised = KeySpelling.normalised(spelling)
    return keys.first { key in
      key.name == spelling || key.name == normalised
        || key.synonyms.contains { $0.name == spelling || $0.name == normalised }
    }
  }
}

/// One key of a mapping.
package struct KeyShape: Sendable {
  package struct Synonym: Sendable {
    package var name: String
    /// Another time's spelling, still understood, but with a warning.
    package var isOutdated: Bool
  }

  package var name: String
  package var synonyms: [Synonym] = []
  /// One sentence without its full stop.
  package internal(set) var help = ""
  package var shape: Shape
  /// Made where it is shown, which no run does.
  var encodeDefault: @Sendable () -> JSONValue = { .null }
  package var isSecret = false

  /// Nil where unset is a state of its own.
  package var defaultValue: JSONValue? {
    let value = encodeDefault()
    return if case .null = value { nil } else { value }
  }
}
