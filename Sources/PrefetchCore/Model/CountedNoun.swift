/// A noun in both its numbers, for messages that count.
package struct CountedNoun: Hashable, Sendable {
  private let one: String
  private let many: String

  /// `many` is for nouns whose plural is more than an `s`, and for those with words behind them.
  package init(_ one: String, _ many: String? = nil) {
    self.one = one
    self.many = many ?? one + "s"
  }

  /// Returns the number and the noun that agrees with it: `1 item`, `2 items`.
  package func text(_ count: some BinaryInteger) -> String {
    "\(count) \(count == 1 ? one : many)"
  }
}
