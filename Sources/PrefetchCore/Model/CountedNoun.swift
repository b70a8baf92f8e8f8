/// Noun in singular and plural, for messages that count.
package struct CountedNoun: Hashable, Sendable {
  private let one: String
  private let many: String

  package init(_ one: String, _ many: String? = nil) {
    self.one = one
    self.many = many ?? one + "s"
  }

  package func text(_ count: some BinaryInteger) -> String {
    "\(count) \(count == 1 ? one : many)"
  }
}
