import PrefetchCore

enum OptionSource: Hashable, Sendable {
  case commandLine
  case environment(variable: String)
}

struct Invocation: Sendable {
  /// Name of the command, `run` if none was typed.
  var name: String
  var options: any CommandOptions
  /// Sources by long option name; an option that is missing has its default.
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

/// Usage errors, with the form in which to report them.
struct UsageFault: Error, Sendable {
  var diagnostics: [Diagnostic]
  /// Readable part of `--json`, `--quiet`, `--verbose`, `--color` and the like.
  var shared: SharedOptions
}
