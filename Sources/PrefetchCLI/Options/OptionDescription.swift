struct OptionDescription: Hashable, Sendable {
  enum Argument: Hashable, Sendable {
    case none
    case required(placeholder: String, completion: Completion)
    /// Argument given as `--name` or as `--name=VALUE`, never as two words.
    case optional(placeholder: String, completion: Completion)
  }

  enum Section: Hashable, Sendable {
    case shared
    case runs
    case command
  }

  var name: String
  var short: Character?
  var argument: Argument
  var isRepeatable: Bool
  /// Help sentence without a full stop; literals in backticks.
  var help = ""
  var section = Section.command

  var spelling: String {
    "--\(name)"
  }

  /// Variable such as `PREFETCH_JOBS`; nil for options that only make sense on a command line.
  var environmentVariable: String? {
    guard !["help", "version", "set"].contains(name) else { return nil }
    return "PREFETCH_" + name.uppercased().map { $0 == "-" ? "_" : $0 }
  }

  var takesValue: Bool {
    switch argument {
    case .none, .optional: false
    case .required: true
    }
  }
}

/// Candidates that a shell may offer for a value or an operand.
enum Completion: Hashable, Sendable {
  case none
  case files
  case directories
  case words([String])
  case segments
  case items
  case helpTopics
}
