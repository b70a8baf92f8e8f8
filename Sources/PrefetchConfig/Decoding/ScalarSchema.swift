import PrefetchDocuments

/// JSON values that a scalar accepts; each scalar type names its schema beside its parser.
package struct ScalarSchema: Sendable {
  enum Text: Sendable {
    case none
    /// Any text that meets all conditions, which are lookaheads.
    case any(conditions: [String])
    case pattern(String)
  }

  enum Numbers: Sendable {
    case none
    case all
    case from(JSONValue, to: JSONValue? = nil, below: JSONValue? = nil)
    case integers(ClosedRange<Int>)
  }

  /// Name under `definitions`; nil for a short or rarely used schema.
  var name: String?
  var text: Text
  var words: [JSONValue] = []
  var numbers: Numbers = .none
  var acceptsBooleans = false
  var isFilled = true
  var mayNameLicense = false

  /// Any text; numbers and booleans count as their spelling.
  static func text(_ name: String? = nil, _ conditions: String...) -> Self {
    Self(name: name, text: .any(conditions: conditions), numbers: .all, acceptsBooleans: true)
  }

  static func pattern(_ pattern: String, _ name: String? = nil, _ numbers: Numbers = .none) -> Self
  {
    Self(name: name, text: .pattern(pattern), numbers: numbers)
  }

  /// Known words; those that look like numbers may be numbers.
  static func words(_ words: [String], ignoringCase: Bool = false) -> Self {
    let numbers = words.compactMap { word in
      Int64(word).map { JSONValue.integer($0) } ?? Double(word).map { JSONValue.double($0) }
    }
    let other = Pattern.any(of: words.map(Pattern.anyCase))
    return Self(
      text: ignoringCase ? .pattern(other) : .none,
      words: words.map { .string($0) } + numbers
    )
  }

  /// A boolean of the document's syntax, not a word.
  static let strictBoolean = Self(text: .none, acceptsBooleans: true, isFilled: false)

  static func strictly(_ value: JSONValue) -> Self {
    Self(text: .none, words: [value], isFilled: false)
  }

  func naming(_ name: String?) -> Self {
    var schema = self
    schema.name = name
    return schema
  }

  func with(_ condition: String, _ name: String? = nil) -> Self {
    var schema = self
    schema.name = name
    switch text {
    case .none: break
    case .any(let conditions): schema.text = .any(conditions: conditions + [condition])
    case .pattern(let pattern): schema.text = .pattern(condition + "(?:\(pattern))")
    }
    return schema
  }

  var acceptingBooleans: Self {
    var schema = self
    schema.acceptsBooleans = true
    return schema
  }

  func or(_ word: String, _ name: String? = nil) -> Self {
    var schema = self
    schema.name = name
    schema.words.append(.string(word))
    return schema
  }

  func readsText(of node: Node) -> Bool {
    switch numbers {
    case .all: true
    case .none: node.scalar?.kind == .unquoted
    case .from, .integers: false
    }
  }
}

extension ScalarSchema {
  static let filledName = "filled"

  static let filled: [(String, JSONValue)] = [
    (
      "description",
      "Text with `${env:NAME}`, `${file:PATH}`, `${credential:NAME}` or `${var:NAME}` in it"
    ),
    ("type", "string"), ("pattern", .string(Pattern.whole(Pattern.filled))),
  ]

  var members: [(String, JSONValue)] {
    let choices = alternatives
    return choices.count == 1 ? choices[0] : [("anyOf", .array(choices.map { .object($0) }))]
  }

  private var alternatives: [[(String, JSONValue)]] {
    var choices: [[(String, JSONValue)]] = []
    if !words.isEmpty { choices.append([("enum", .array(words))]) }
    switch text {
    case .none: break
    case .any(let conditions):
      let pattern = conditions.joined() + Pattern.text(withLicense: mayNameLicense)
      return choices + [
        [("type", ["string", "number", "boolean"]), ("pattern", .string(Pattern.whole(pattern)))]
      ]
    case .pattern(let pattern):
      choices.append([("type", "string"), ("pattern", .string(Pattern.whole(pattern)))])
    }
    switch numbers {
    case .none: break
    case .all: choices.append([("type", "number")])
    case .from(let least, let most, let bound):
      let ends = [("maximum", most), ("exclusiveMaximum", bound)]
      choices.append(
        [("type", "number"), ("minimum", least)]
          + ends.compactMap { name, end in end.map { (name, $0) } }
      )
    case .integers(let range):
      var members: [(String, JSONValue)] = [("type", "integer")]
      if range.lowerBound != .min { members.append(("minimum", .integer(Int64(range.lowerBound)))) }
      if range.upperBound != .max { members.append(("maximum", .integer(Int64(range.upperBound)))) }
      choices.append(members)
    }
    if acceptsBooleans { choices.append([("type", "boolean")]) }
    if isFilled { choices.append([("$ref", .string("#/definitions/\(Self.filledName)"))]) }
    return choices
  }
}
