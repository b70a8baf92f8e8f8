import PrefetchCore

/// Parser of a value, with its error message.
struct ValueKind<Value>: Sendable {
  /// Phrase after "takes", such as `a whole number from 1 to 10`.
  var expectation: String
  var completion: Completion = .none
  var placeholder = "VALUE"
  var suggest: @Sendable (String) -> String? = { _ in nil }
  var parse: @Sendable (String) -> Value?

  func called(_ placeholder: String) -> Self {
    var kind = self
    kind.placeholder = placeholder
    return kind
  }

  func completed(by completion: Completion) -> Self {
    var kind = self
    kind.completion = completion
    return kind
  }

  func read(_ text: String) throws(ValueFault) -> Value {
    guard let value = parse(text) else {
      throw ValueFault(text: text, expectation: expectation, suggestion: suggest(text))
    }
    return value
  }
}

struct ValueFault: Error, Hashable {
  var text: String
  var expectation: String
  var suggestion: String?
}

extension ValueKind where Value == String {
  static var text: Self {
    Self(expectation: "a value that is not empty") { $0.isEmpty ? nil : $0 }
  }

  static var file: Self {
    Self(expectation: "the path of a file", completion: .files, placeholder: "FILE") {
      $0.isEmpty ? nil : $0
    }
  }

  static var directory: Self {
    Self(expectation: "the path of a folder", completion: .directories, placeholder: "DIR") {
      $0.isEmpty ? nil : $0
    }
  }
}

extension ValueKind where Value == Int {
  static func number(_ range: ClosedRange<Int>) -> Self {
    Self(
      expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      placeholder: "N"
    ) { text in
      guard let first = text.utf8.first, ASCII.isDigit(first), let number = Int(text) else {
        return nil
      }
      return range.contains(number) ? number : nil
    }
  }
}

extension ValueKind where Value == ShardWish {
  static var shard: Self {
    Self(
      expectation: "`I/N` with I from 0 and below N, such as `0/4`, or `env`",
      completion: .words(["env"]),
      placeholder: "I/N"
    ) { $0 == "env" ? .ofEnvironment : Shard($0).map { .given($0) } }
  }
}

extension ValueKind where Value == Duration {
  static var duration: Self {
    Self(expectation: "a duration such as `90s`, `5m`, `2h` or `7d`", placeholder: "D") {
      DurationText.parse($0)
    }
  }
}

extension ValueKind where Value == Instant {
  static var time: Self {
    Self(expectation: "a time such as `2026-11-20T05:00:00Z`", placeholder: "TIME") {
      Timestamp.parse($0)
    }
  }
}

extension ValueKind where Value: RawRepresentable<String> & CaseIterable & Sendable {
  static var word: Self {
    .word(among: Array(Value.allCases)) { $0.rawValue }
  }
}

extension ValueKind where Value: Sendable {
  static func word(among values: [Value], name: @Sendable (Value) -> String) -> Self {
    let named = Dictionary(values.map { (name($0), $0) }) { first, _ in first }
    let words = values.map(name)
    return Self(
      expectation: words.count == 1 ? "`\(words[0])`" : "one of \(Wording.list(words))",
      completion: .words(words),
      suggest: { Suggestion.nearest(to: $0, among: words) },
      parse: { named[$0] }
    )
  }
}

enum Wording {
  /// Returns `` `a`, `b` and `c` ``.
  static func list(_ words: [String], conjunction: String = "and") -> String {
    let quoted = words.map { "`\($0)`" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.joined() }
    return quoted.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
  }
}
