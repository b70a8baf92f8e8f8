import PrefetchCore

struct Binding: Sendable {
  var invocation: Invocation
  var diagnostics: [Diagnostic]
}

/// Fills the options of one command from words, and from the environment where words are missing.
struct OptionBinder<Options: CommandOptions> {
  private let spec: CommandSpec<Options>
  private let words: ArgumentWords
  private let environment: [String: String]
  private var options: Options
  private var sources: [String: OptionSource] = [:]
  private var diagnostics: [Diagnostic] = []

  init(spec: CommandSpec<Options>, words: ArgumentWords, environment: [String: String]) {
    self.spec = spec
    self.words = words
    self.environment = environment
    options = spec.initial
  }

  consuming func filled() -> Options {
    fill()
    return options
  }

  consuming func bind() -> Binding {
    refuseForeignOptions()
    fill()
    assignOperands()
    if spec.refusesJSON, options.shared.isJSON {
      diagnostics.append("usage.conflict", "`\(spec.name)` has no JSON form, so leave out `--json`")
    }
    // Checks over all options would only repeat the error of one.
    if diagnostics.isEmpty { diagnostics = spec.validate(options) }
    return Binding(
      invocation: Invocation(spec, options, sources: sources),
      diagnostics: diagnostics
    )
  }

  private mutating func fill() {
    for option in spec.allOptions {
      let occurrences = words.occurrences.filter { $0.name == option.description.name }
      if occurrences.isEmpty {
        readEnvironment(option)
      } else {
        read(option, occurrences)
      }
    }
  }

  private mutating func refuseForeignOptions() {
    let own = Set(spec.allOptions.map(\.description.name))
    for occurrence in words.occurrences where !own.contains(occurrence.name) {
      let owners = CommandTable.all
        .filter { $0.description.options.contains { $0.name == occurrence.name } }
        .map(\.name)
      diagnostics.append(
        "usage.unknown-option",
        "`\(spec.name)` has no option `\(occurrence.spelling)`",
        hint: "it belongs to \(Wording.list(owners))"
      )
    }
  }

  private mutating func read(
    _ option: OptionSpec<Options>,
    _ occurrences: [ArgumentWords.Occurrence]
  ) {
    sources[option.description.name] = .commandLine
    for occurrence in occurrences {
      apply(option, occurrence.value, named: occurrence.spelling)
    }
  }

  private mutating func readEnvironment(_ option: OptionSpec<Options>) {
    guard let variable = option.description.environmentVariable,
      let text = environment[variable], !text.isEmpty
    else { return }
    switch option.description.argument {
    case .none:
      readSwitch(option, text, variable: variable)
    case .optional:
      readOptional(option, text, variable: variable)
    case .required:
      sources[option.description.name] = .environment(variable: variable)
      let values =
        option.description.isRepeatable ? text.split(separator: "\n").map(String.init) : [text]
      for value in values { apply(option, value, named: variable) }
    }
  }

  private mutating func readSwitch(_ option: OptionSpec<Options>, _ text: String, variable: String)
  {
    let times: Int
    if let isOn = Self.switchValue(text) {
      times = isOn ? 1 : 0
    } else if option.description.isRepeatable, text == "2" {
      times = 2
    } else {
      diagnostics.append(
        "usage.bad-value",
        "`\(variable)` takes 1, true, yes, on, or 0, false, no, off, not `\(text)`"
      )
      return
    }
    sources[option.description.name] = .environment(variable: variable)
    for _ in 0..<times { apply(option, nil, named: variable) }
  }

  /// Reads a variable for an optional value: a number is a value, only words are on or off.
  private mutating func readOptional(
    _ option: OptionSpec<Options>,
    _ text: String,
    variable: String
  ) {
    let isWord = text.utf8.first.map { !ASCII.isDigit($0) } ?? false
    let isOn = isWord ? Self.switchValue(text) : nil
    guard isOn != false else { return }
    sources[option.description.name] = .environment(variable: variable)
    apply(option, isOn == nil ? text : nil, named: variable)
  }

  private static func switchValue(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "true", "yes", "on": true
    case "0", "false", "no", "off": false
    default: nil
    }
  }

  private mutating func apply(_ option: OptionSpec<Options>, _ text: String?, named name: String) {
    do throws(ValueFault) {
      try option.apply(&options, text)
    } catch {
      diagnostics.append(.badValue(error, of: "`\(name)`"))
    }
  }

  private mutating func assignOperands() {
    let operands = spec.operands.description
    let placeholder = operands.placeholder
    let count = words.operands.count
    switch operands.arity {
    case .none where count > 0:
      refuseOperand(words.operands[0], "`\(spec.name)` takes options only")
    case .optional where count > 1, .one where count > 1:
      refuseOperand(words.operands[1], "`\(spec.name)` takes one \(placeholder)")
    case .one where count == 0, .some where count == 0:
      diagnostics.append(
        "usage.missing-operand",
        "`\(spec.name)` needs \(operands.arity == .one ? "one" : "at least one") \(placeholder)"
      )
    case .none, .optional, .one, .any, .some:
      do throws(ValueFault) {
        try spec.operands.assign(&options, words.operands)
      } catch {
        diagnostics.append(.badValue(error, of: "`\(spec.name)`"))
      }
    }
  }

  private mutating func refuseOperand(_ word: String, _ reason: String) {
    diagnostics.append("usage.unexpected-operand", "\(reason), so leave out `\(word)`")
  }
}

extension Diagnostic {
  fileprivate static func badValue(_ fault: ValueFault, of subject: String) -> Self {
    Diagnostic(
      "usage.bad-value",
      "\(subject) takes \(fault.expectation), not `\(fault.text)`",
      hint: fault.suggestion.map { "did you mean `\($0)`?" }
    )
  }
}
