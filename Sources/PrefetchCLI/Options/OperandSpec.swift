import PrefetchCore

/// How many operands a command takes, and what they are called.
struct OperandDescription: Hashable, Sendable {
  enum Arity: Hashable, Sendable {
    case none
    case optional
    case one
    case any
    case some
  }

  var arity: Arity
  var placeholder: String
  var completion: Completion

  /// `[SEGMENT…]`, as a synopsis has it.
  var synopsis: String {
    switch arity {
    case .none: ""
    case .optional: "[\(placeholder)]"
    case .one: placeholder
    case .any: "[\(placeholder)…]"
    case .some: "\(placeholder)…"
    }
  }
}

/// The operands of a command and the place in its options that they fill.
struct OperandSpec<Options>: Sendable {
  /// Made out when it is filled: every key path costs microseconds to make.
  typealias Place<Value> = @Sendable () -> any WritableKeyPath<Options, Value> & Sendable

  var description: OperandDescription
  /// Called with as many words as the arity allows.
  var assign: @Sendable (inout Options, [String]) throws(ValueFault) -> Void

  static var none: Self {
    Self(description: OperandDescription(arity: .none, placeholder: "", completion: .none)) {
      _,
      _ in
    }
  }

  static func any(_ placeholder: String, _ place: @autoclosure @escaping Place<[String]>) -> Self {
    Self(description: OperandDescription(arity: .any, placeholder: placeholder, completion: .none))
    {
      $0[keyPath: place()] = $1
    }
  }

  static func some(
    _ placeholder: String,
    _ place: @autoclosure @escaping Place<[String]>,
    completion: Completion = .none
  ) -> Self {
    Self(
      description: OperandDescription(
        arity: .some,
        placeholder: placeholder,
        completion: completion
      )
    ) {
      $0[keyPath: place()] = $1
    }
  }

  static func one<Value>(
    _ placeholder: String,
    _ place: @autoclosure @escaping Place<Value>,
    _ kind: ValueKind<Value>
  ) -> Self {
    let description = OperandDescription(
      arity: .one,
      placeholder: placeholder,
      completion: kind.completion
    )
    return Self(description: description) { (options, words) throws(ValueFault) in
      options[keyPath: place()] = try kind.read(words.first ?? "")
    }
  }

  static func optional<Value>(
    _ placeholder: String,
    _ place: @autoclosure @escaping Place<Value>,
    _ kind: ValueKind<Value>
  ) -> Self {
    let description = OperandDescription(
      arity: .optional,
      placeholder: placeholder,
      completion: kind.completion
    )
    return Self(description: description) { (options, words) throws(ValueFault) in
      guard let word = words.first else { return }
      options[keyPath: place()] = try kind.read(word)
    }
  }
}
