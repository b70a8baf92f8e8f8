import PrefetchCore

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

/// Operands of a command and the options' field that they fill.
struct OperandSpec<Options>: Sendable {
  typealias Slot<Value> = OptionSpec<Options>.Slot<Value>

  var description: OperandDescription
  var assign: @Sendable (inout Options, [String]) throws(ValueFault) -> Void

  private init(
    _ arity: OperandDescription.Arity,
    _ placeholder: String,
    _ completion: Completion = .none,
    assign: @escaping @Sendable (inout Options, [String]) throws(ValueFault) -> Void
  ) {
    description = OperandDescription(
      arity: arity,
      placeholder: placeholder,
      completion: completion
    )
    self.assign = assign
  }

  static var none: Self { Self(.none, "") { _, _ in } }

  static func any(
    _ placeholder: String,
    _ slot: @autoclosure @escaping Slot<[String]>,
    completion: Completion = .none
  ) -> Self {
    Self(.any, placeholder, completion) { $0[keyPath: slot()] = $1 }
  }

  static func some(
    _ placeholder: String,
    _ slot: @autoclosure @escaping Slot<[String]>,
    completion: Completion = .none
  ) -> Self {
    Self(.some, placeholder, completion) { $0[keyPath: slot()] = $1 }
  }

  static func one<Value>(
    _ placeholder: String,
    _ slot: @autoclosure @escaping Slot<Value>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(.one, placeholder, kind.completion) { (options, words) throws(ValueFault) in
      options[keyPath: slot()] = try kind.read(words.first ?? "")
    }
  }

  static func optional<Value>(
    _ placeholder: String,
    _ slot: @autoclosure @escaping Slot<Value>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(.optional, placeholder, kind.completion) { (options, words) throws(ValueFault) in
      guard let word = words.first else { return }
      options[keyPath: slot()] = try kind.read(word)
    }
  }
}
