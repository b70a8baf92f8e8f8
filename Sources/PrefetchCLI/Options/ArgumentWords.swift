import PrefetchCore

/// Words of a command line, split before the command is known, since options may precede it.
struct ArgumentWords: Sendable {
  struct Occurrence: Hashable, Sendable {
    var name: String
    var spelling: String
    var value: String?
  }

  var occurrences: [Occurrence] = []
  var operands: [String] = []
  var diagnostics: [Diagnostic] = []

  init(_ arguments: [String], options: KnownOptions) {
    var remaining = arguments[...]
    while let word = remaining.popFirst() {
      if word == "--" {
        operands += remaining
        return
      }
      if word.hasPrefix("--") {
        readLong(word.dropFirst(2), options: options, next: &remaining)
      } else if word.hasPrefix("-"), word != "-" {
        readCluster(word.dropFirst(), options: options, next: &remaining)
      } else {
        operands.append(word)
      }
    }
  }

  func contains(_ name: String) -> Bool {
    occurrences.contains { $0.name == name }
  }

  private mutating func readLong(
    _ text: Substring,
    options: KnownOptions,
    next: inout ArraySlice<String>
  ) {
    let equals = text.firstIndex(of: "=")
    let name = String(text[..<(equals ?? text.endIndex)])
    let value = equals.map { String(text[text.index(after: $0)...]) }
    let spelling = "--\(name)"
    guard let option = options.option(named: name) else {
      let known = CommandTable.allOptions.map(\.spelling)
      diagnostics.append(.unknownOption(spelling, known: known))
      // The next word may be a secret value: it is neither judged nor repeated.
      if value == nil, let word = next.first, !word.hasPrefix("-"),
        !CommandTable.words.contains(word)
      {
        next.removeFirst()
      }
      return
    }
    switch option.argument {
    case .none where value != nil:
      diagnostics.append(
        "usage.unexpected-value",
        "`\(spelling)` takes no value, so leave out `=\(value ?? "")`"
      )
    case .none, .optional:
      occurrences.append(Occurrence(name: name, spelling: spelling, value: value))
    case .required(let placeholder, _):
      append(option, spelling, value ?? next.popFirst(), placeholder: placeholder)
    }
  }

  /// Reads `-qv`, `-j4` or `-j 4`: switches, then at most one option with a value.
  private mutating func readCluster(
    _ text: Substring,
    options: KnownOptions,
    next: inout ArraySlice<String>
  ) {
    var letters = text
    while let letter = letters.popFirst() {
      let spelling = "-\(letter)"
      guard let option = options.option(of: letter) else {
        // `-jobs 4` is a long option that lacks a dash.
        let isLongName = options.option(named: String(text)) != nil
        let known = isLongName ? ["--\(text)"] : []
        diagnostics.append(
          .unknownOption(isLongName ? "-\(text)" : spelling, known: known)
        )
        return
      }
      guard case .required(let placeholder, _) = option.argument else {
        occurrences.append(Occurrence(name: option.name, spelling: spelling, value: nil))
        continue
      }
      let value = letters.isEmpty ? next.popFirst() : String(letters)
      append(option, spelling, value, placeholder: placeholder)
      return
    }
  }

  private mutating func append(
    _ option: OptionDescription,
    _ spelling: String,
    _ value: String?,
    placeholder: String
  ) {
    guard let value else {
      diagnostics.append(
        "usage.missing-value",
        "`\(spelling)` needs a value: `\(spelling) \(placeholder)`"
      )
      return
    }
    occurrences.append(Occurrence(name: option.name, spelling: spelling, value: value))
  }
}

extension Diagnostic {
  fileprivate static func unknownOption(_ spelling: String, known: [String]) -> Self {
    let name = spelling.drop { $0 == "-" }.lowercased()
    let isLicense = ["license", "licence", "api-key", "api_key", "apikey"].contains(name)
    return Diagnostic(
      "usage.unknown-option",
      "there is no option `\(spelling)`",
      hint: isLicense
        ? "others see a command line: the license comes from `PREFETCH_LICENSE` or the configuration"
        : Suggestion.nearest(to: spelling, among: known).map { "did you mean `\($0)`?" }
    )
  }
}
