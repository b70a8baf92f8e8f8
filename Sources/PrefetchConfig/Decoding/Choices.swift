import PrefetchCore
import PrefetchDocuments

enum Choices {
  static func suggestion(for word: String, among known: some Sequence<String>) -> String? {
    Suggestion.nearest(to: word, among: known).map { "did you mean `\($0)`?" }
  }

  static func hint(for word: String, among known: [String]) -> String {
    if let suggestion = suggestion(for: word, among: known) { return suggestion }
    return "known are \(known.map { "`\($0)`" }.joined(separator: ", "))"
  }
}

extension ValueType where Value: Equatable {
  static func words(_ words: (String, Value)..., ignoringCase: Bool = false) -> Self {
    .words(words, ignoringCase: ignoringCase)
  }

  static func words(_ words: [(String, Value)], ignoringCase: Bool = false) -> Self {
    let known = words.map(\.0)
    let list = known.joined(separator: "|")
    let expectation = known.count > 6 ? "one of \(list)" : known.joined(separator: " or ")
    return scalar(
      expectation,
      summary: list,
      schema: .words(known, ignoringCase: ignoringCase)
    ) { text throws(ValueComplaint) in
      let match = words.first { $0.0 == text || ignoringCase && text.isAlike($0.0) }
      guard let match else {
        throw ValueComplaint(
          "unknown value `\(text)`",
          hint: Choices.hint(for: text, among: known),
          code: "config.unknown-value"
        )
      }
      return match.1
    } encode: { value in
      words.first { $0.1 == value }.map { .string($0.0) } ?? .null
    }
  }
}

extension ValueType
where Value: CaseIterable & RawRepresentable & Hashable, Value.RawValue == String {
  static func choice(ignoringCase: Bool = false) -> Self {
    .words(Value.allCases.map { ($0.rawValue, $0) }, ignoringCase: ignoringCase)
  }
}

extension String {
  fileprivate func isAlike(_ other: String) -> Bool {
    lowercased() == other.lowercased()
  }
}
