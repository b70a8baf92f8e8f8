enum OptionalArgument<Value: Hashable & Sendable>: Hashable, Sendable {
  case bare
  case value(Value)
}

/// An option and the options' field that it fills.
struct OptionSpec<Options>: Sendable {
  /// Key path, evaluated when the slot is filled: making one costs microseconds.
  typealias Slot<Value> = @Sendable () -> any WritableKeyPath<Options, Value> & Sendable

  var description: OptionDescription
  /// Reads one occurrence; the text is nil for a switch and for an omitted value.
  var apply: @Sendable (inout Options, String?) throws(ValueFault) -> Void

  init(
    _ name: String,
    short: Character? = nil,
    argument: OptionDescription.Argument,
    isRepeatable: Bool = false,
    apply: @escaping @Sendable (inout Options, String?) throws(ValueFault) -> Void
  ) {
    description = OptionDescription(
      name: name,
      short: short,
      argument: argument,
      isRepeatable: isRepeatable
    )
    self.apply = apply
  }

  func help(_ text: String) -> Self {
    var option = self
    option.description.help = text
    return option
  }
}

// MARK: - Kinds

extension OptionSpec {
  static func flag(
    _ name: String,
    short: Character? = nil,
    _ slot: @autoclosure @escaping Slot<Bool>
  ) -> Self {
    Self(name, short: short, argument: .none) { options, _ in
      options[keyPath: slot()] = true
    }
  }

  static func count(
    _ name: String,
    short: Character? = nil,
    _ slot: @autoclosure @escaping Slot<Int>
  ) -> Self {
    Self(name, short: short, argument: .none, isRepeatable: true) { options, _ in
      options[keyPath: slot()] += 1
    }
  }

  static func value<Value>(
    _ name: String,
    short: Character? = nil,
    _ slot: @autoclosure @escaping Slot<Value?>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(name, short: short, argument: .required(kind)) {
      (options, text) throws(ValueFault) in
      options[keyPath: slot()] = try kind.read(text ?? "")
    }
  }

  static func choice<Value>(
    _ name: String,
    _ slot: @autoclosure @escaping Slot<Value>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(name, argument: .required(kind)) {
      (options, text) throws(ValueFault) in
      options[keyPath: slot()] = try kind.read(text ?? "")
    }
  }

  static func values<Value>(
    _ name: String,
    short: Character? = nil,
    _ slot: @autoclosure @escaping Slot<[Value]>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(name, short: short, argument: .required(kind), isRepeatable: true) {
      (options, text) throws(ValueFault) in
      options[keyPath: slot()].append(try kind.read(text ?? ""))
    }
  }

  /// Values separated by commas; a repeatable option accumulates, others keep the last list.
  static func commaList<Value>(
    _ name: String,
    _ slot: @autoclosure @escaping Slot<[Value]>,
    _ kind: ValueKind<Value>,
    isRepeatable: Bool = false
  ) -> Self {
    Self(name, argument: .required(kind), isRepeatable: isRepeatable) {
      (options, text) throws(ValueFault) in
      var values = isRepeatable ? options[keyPath: slot()] : []
      for word in (text ?? "").split(separator: ",", omittingEmptySubsequences: false) {
        values.append(try kind.read(String(word)))
      }
      options[keyPath: slot()] = values
    }
  }

  static func optionalValue<Value>(
    _ name: String,
    _ slot: @autoclosure @escaping Slot<OptionalArgument<Value>?>,
    _ kind: ValueKind<Value>
  ) -> Self {
    Self(
      name,
      argument: .optional(placeholder: kind.placeholder, completion: kind.completion)
    ) { (options, text) throws(ValueFault) in
      options[keyPath: slot()] =
        try text.map { text throws(ValueFault) in
          .value(try kind.read(text))
        } ?? .bare
    }
  }

  static func wait(_ slot: @autoclosure @escaping Slot<OptionalArgument<Duration>?>) -> Self {
    optionalValue("wait", slot(), .duration)
      .help("Wait for another run, at most D, instead of ending with 75")
  }
}

extension OptionDescription.Argument {
  fileprivate static func required<Value>(_ kind: ValueKind<Value>) -> Self {
    .required(placeholder: kind.placeholder, completion: kind.completion)
  }
}

// MARK: - Embedding

extension OptionSpec {
  func embedded<Outer>(
    at slot: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Outer, Options> & Sendable,
    section: OptionDescription.Section? = nil
  ) -> OptionSpec<Outer> {
    let inner = apply
    var outer = OptionSpec<Outer>(
      description.name,
      short: description.short,
      argument: description.argument,
      isRepeatable: description.isRepeatable
    ) { (options, text) throws(ValueFault) in
      try inner(&options[keyPath: slot()], text)
    }
    outer.description.help = description.help
    outer.description.section = section ?? description.section
    return outer
  }
}

extension Array {
  func embedded<Inner, Outer>(
    at slot: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Outer, Inner> & Sendable,
    section: OptionDescription.Section? = nil
  ) -> [OptionSpec<Outer>] where Element == OptionSpec<Inner> {
    map { $0.embedded(at: slot(), section: section) }
  }
}
