import PrefetchCore

/// Where a value was given.
enum OptionSource: Hashable, Sendable {
  case commandLine
  case environment(variable: String)
}

/// A command with its options, ready to be carried out.
enum ParsedCommand: Sendable {
  /// Also `plan`, which is a dry run.
  case run(RunOptions)
  case mirror(MirrorOptions)
  case initialise(InitOptions)
  case check(CheckOptions)
  case config(ConfigOptions)
  case status(StatusOptions)
  case network(NetworkOptions)
  case list(ListOptions)
  case path(PathOptions)
  case explain(ExplainOptions)
  case get(GetOptions)
  case subscribe(SubscribeOptions)
  case unsubscribe(UnsubscribeOptions)
  case pins(PinsOptions)
  case control(ControlOptions)
  case withLock(WithLockOptions)
  case importing(ImportOptions)
  case verify(VerifyOptions)
  case register(RegisterOptions)
  case notify(NotifyOptions)
  case log(LogOptions)
  case schedule(ScheduleOptions)
  case doctor(DoctorOptions)
  case stats(StatsOptions)
  case collect(CollectOptions)
  case publish(PublishOptions)
  case environment(EnvironmentOptions)
  case serve(ServeOptions)
  case event(EventOptions)
  case eventRun(EventRunOptions)
  case consume(ConsumeOptions)
  case eventList(EventListOptions)
  case eventFlush(EventFlushOptions)
  case manifestBuild(ManifestBuildOptions)
  case manifestCheck(ManifestCheckOptions)
  case manifestSign(ManifestSignOptions)
  case completion(CompletionOptions)
  case help(HelpOptions)
  case version(SharedOptions)
}

/// What the words and the environment ask for.
struct Invocation: Sendable {
  /// The word that was typed, `run` when there was none.
  var name: String
  var command: ParsedCommand
  /// By the option's long name; an option that is not here has its default.
  var sources: [String: OptionSource]
}

/// Why the words make no command, and how the user wants to be told.
struct UsageFault: Error, Sendable {
  var diagnostics: [Diagnostic]
  /// The command, where the words name one.
  var name: String?
  /// What could be read of `--json`, `--quiet`, `--verbose`, `--color` and the like.
  var shared: SharedOptions
}
