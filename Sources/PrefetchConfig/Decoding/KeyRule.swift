import PrefetchCore

/// Rule for the free keys of a mapping.
package struct KeyRule: Sendable {
  enum Names: Sendable {
    case pattern(String)
    /// Known words; each may have a value of its own shape.
    case known([(name: String, shape: Shape?)])
  }

  /// Noun for messages, in the singular: `host`.
  var summary: String
  private let makeNames: @Sendable () -> Names
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

  var names: Names { makeNames() }

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
