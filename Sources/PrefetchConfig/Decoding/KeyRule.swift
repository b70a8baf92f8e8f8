import PrefetchCore

/// The rule that the free keys of a mapping follow.
package struct KeyRule: Sendable {
  /// The keys that a JSON Schema allows.
  enum Names: Sendable {
    case pattern(String)
    /// Closed words; a word may have values of its own shape.
    case known([(name: String, shape: Shape?)])
  }

  /// In the singular: `host`.
  var summary: String
  private let makeNames: @Sendable () -> Names
  /// The key in its canonical spelling.
  var parse: @Sendable (String) throws(ValueComplaint) -> String

  init(
    summary: String,
    names: @autoclosure @escaping @Sendable () -> Names,
    parse: @escaping @Sendable (String) throws(ValueComplaint) -> String
  ) {
    self.summary = summary
    makeNames = names
    self.parse = parse
  }

  /// The keys as a schema has them; made where they are asked for, which few runs do.
  var names: Names { makeNames() }

  /// Returns the rule with another description of its keys.
  func naming(_ names: @autoclosure @escaping @Sendable () -> Names) -> KeyRule {
    KeyRule(summary: summary, names: names(), parse: parse)
  }

  static let name = KeyRule(
    summary: "name",
    names: .pattern(Pattern.holdsSomething)
  ) { text throws(ValueComplaint) in
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw ValueComplaint("a name cannot be empty")
    }
    return text
  }

  static func oneOf(_ summary: String, _ known: [String]) -> KeyRule {
    KeyRule(summary: summary, names: .known(known.map { ($0, nil) })) {
      text throws(ValueComplaint) in
      guard known.contains(text) else {
        throw ValueComplaint(
          "unknown \(summary) `\(text)`",
          hint: Choices.hint(for: text, among: known),
          code: "config.unknown-key"
        )
      }
      return text
    }
  }
}
