package import PrefetchDocuments

/// What may stand at a place of the configuration: the half of the key table that pages read.
package indirect enum Shape: Sendable {
  case scalar(ScalarShape)
  case list(Shape)
  /// A mapping whose keys the user chooses; `keys` says what they are.
  case map(keys: String, Shape)
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
    case .list(let element): "list of \(element.summary)"
    case .map(let keys, let value): "mapping of \(keys) to \(value.summary)"
    case .object(let object): object.summary
    case .anything: "anything"
    }
  }
}

/// A value without parts.
package struct ScalarShape: Sendable {
  /// With its article: `a size`.
  var expectation: String
  /// One word or the choices: `size`, `use|defer`.
  var summary: String
  /// The members of a JSON Schema that describe it.
  var schema: [(String, JSONValue)]
}

/// A mapping whose keys are known.
package struct ObjectShape: Sendable {
  package var keys: [KeyShape]
  /// The key that a value which is no mapping stands for.
  var shorthand: String?
  /// A name for what is described once and referred to often.
  var name: String?

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
