/// What the pages, the completions and the parser need to know of an option.
struct OptionDescription: Hashable, Sendable {
  enum Argument: Hashable, Sendable {
    case none
    case required(placeholder: String, completion: Completion)
    /// Given as `--name` or as `--name=VALUE`, never as two words.
    case optional(placeholder: String, completion: Completion)
  }

  enum Section: Hashable, Sendable {
    case shared
    /// Options that all commands share which start runs.
    case runs
    case command
  }

  /// The long name, without dashes.
  var name: String
  var short: Character?
  var argument: Argument
  var isRepeatable: Bool
  /// One sentence without a full stop; literals in backticks.
  var help = ""
  var section = Section.command

  /// `--jobs`.
  var spelling: String {
    "--\(name)"
  }

  /// `PREFETCH_JOBS`; nil for the few options that only make sense on a command line.
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

/// What a shell may offer in place of a value or an operand.
enum Completion: Hashable, Sendable {
  case none
  case files
  case directories
  case words([String])
  /// Names of segments, as `status` prints them.
  case segments
  /// URLs of stored items, as `list` prints them.
  case items
  /// The names of the commands and the other pages of `prefetch help`.
  case helpTopics
}
