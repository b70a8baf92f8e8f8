import PrefetchCore

/// Where a value was given.
enum OptionSource: Hashable, Sendable {
  case commandLine
  case environment(variable: String)
}

/// What the words and the environment ask for, ready to be carried out.
struct Invocation: Sendable {
  /// The word that was typed, `run` when there was none.
  var name: String
  var options: any CommandOptions
  /// By the option's long name; an option that is not here has its default.
  var sources: [String: OptionSource]
  let makeCommand: @Sendable (CommandContext) -> any Command

  init<Options>(
    _ spec: CommandSpec<Options>,
    _ options: Options,
    sources: [String: OptionSource] = [:]
  ) {
    name = spec.name
    self.options = options
    self.sources = sources
    makeCommand = { spec.makeCommand($0, options) }
  }
}

/// Why the words make no command, and how the user wants to be told.
struct UsageFault: Error, Sendable {
  var diagnostics: [Diagnostic]
  /// What could be read of `--json`, `--quiet`, `--verbose`, `--color` and the like.
  var shared: SharedOptions
}
