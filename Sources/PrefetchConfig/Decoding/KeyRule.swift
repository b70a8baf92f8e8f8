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
  var names: Names
  /// The key in its canonical spelling.
  var parse: @Sendable (String) throws(ValueComplaint) -> String

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
