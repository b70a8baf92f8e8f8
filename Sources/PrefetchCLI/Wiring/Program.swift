import PrefetchCore
import PrefetchSystem
import PrefetchTransfer

/// From the process's arguments to its exit status.
package enum Program {
  /// `words` begin with the program's own name.
  package static func run(words: [String]) -> Int32 {
    StandardStreams.fill()
    StopSignals.install()
    ProcessLimits.raiseOpenFiles()
    let environment = ProcessEnvironment.current()
    CurlTransport.forgetEnvironment()
    // Swift reads the words from /proc. In a chroot without it there are none at all, and a run that
    // nobody asked for would be the answer to whatever was.
    guard !words.isEmpty else {
      return Console(shared: SharedOptions(), environment: environment, log: nil).fail(
        .failed,
        [
          Diagnostic(
            "start.no-words",
            "the words of the command line cannot be read, since `/proc` is not mounted",
            hint: "mount it: mount -t proc proc /proc"
          )
        ]
      )
    }
    do throws(UsageFault) {
      let invocation = try CommandLineParser.parse(
        Array(words.dropFirst()),
        environment: environment.variables
      )
      return run(invocation, environment)
    } catch {
      let console = Console(shared: error.shared, environment: environment, log: nil)
      return console.finish(console.fail(.usage, error.diagnostics))
    }
  }

  private static func run(_ invocation: Invocation, _ environment: ProcessEnvironment) -> Int32 {
    let clock = SystemClock()
    let shared = invocation.command.shared
    let log: LogFile?
    do throws(Failure) {
      log = try shared.logFile.map { path throws(Failure) in
        try LogFile(path: path, isJSON: shared.logFormat == .json, clock: clock)
      }
    } catch {
      let console = Console(shared: shared, environment: environment, log: nil)
      return console.finish(console.fail(.io, [Diagnostic("log.open", error.message)]))
    }
    let console = Console(shared: shared, environment: environment, log: log)
    let context = CommandContext(
      environment: environment,
      console: console,
      clock: clock,
      shared: shared,
      sources: invocation.sources
    )
    do throws(CommandExit) {
      return console.finish(try perform(invocation.command, context))
    } catch {
      UnbegunRun(context: context).writeReports()
      return console.finish(error.status)
    }
  }

  private static func perform(
    _ command: ParsedCommand,
    _ context: CommandContext
  ) throws(CommandExit) -> Int32 {
    switch command {
    case .run(let options):
      try prepareTransfers(context)
      return try RunCommand(context: context, options: options).run()
    case .mirror(let options):
      try prepareTransfers(context)
      return try MirrorCommand(context: context, options: options).run()
    case .initialise(let options):
      return try InitCommand(context: context, options: options).run()
    case .subscribe(let options):
      try prepareTransfers(context)
      return try SubscribeCommand(context: context, options: options).run()
    case .unsubscribe(let options):
      try prepareTransfers(context)
      return try SubscribeCommand(context: context, options: options).run()
    case .get(let options):
      try prepareTransfers(context)
      return try GetCommand(context: context, options: options).run()
    case .register(let options):
      try prepareTransfers(context)
      return try RegisterCommand(context: context, options: options).run()
    case .notify(let options):
      try prepareTransfers(context)
      return try NotifyCommand(context: context, options: options).run()
    case .check(let options): return CheckCommand(context: context, options: options).run()
    case .config(let options): return try ConfigCommand(context: context, options: options).run()
    case .status(let options): return try StatusCommand(context: context, options: options).run()
    case .network(let options):
      return try NetworkCommand(context: context, options: options).run()
    case .list(let options): return try ListCommand(context: context, options: options).run()
    case .path(let options): return try PathCommand(context: context, options: options).run()
    case .explain(let options): return try ExplainCommand(context: context, options: options).run()
    case .log(let options): return try LogCommand(context: context, options: options).run()
    case .doctor: return try DoctorCommand(context: context).run()
    case .schedule(let options):
      return try ScheduleCommand(context: context, options: options).run()
    case .stats(let options): return try StatsCommand(context: context, options: options).run()
    case .pins(let options):
      try prepareTransfers(context)
      return try PinsCommand(context: context, options: options).run()
    case .control(let options): return try ControlCommand(context: context, options: options).run()
    case .withLock(let options):
      return try WithLockCommand(context: context, options: options).run()
    case .importing(let options): return try ImportCommand(context: context, options: options).run()
    case .verify(let options): return try VerifyCommand(context: context, options: options).run()
    case .collect(let options): return try CollectCommand(context: context, options: options).run()
    case .publish(let options): return try PublishCommand(context: context, options: options).run()
    case .environment(let options):
      return try EnvironmentCommand(context: context, options: options).run()
    case .serve(let options):
      if options.pulls { try prepareTransfers(context) }
      return try ServeCommand(context: context, options: options).run()
    case .event(let options): return try EventCommand(context: context, options: options).run()
    case .eventRun(let options):
      return try EventRunCommand(context: context, options: options).run()
    case .consume(let options): return try ConsumeCommand(context: context, options: options).run()
    case .eventList: return try EventListCommand(context: context).run()
    case .eventFlush:
      try prepareTransfers(context)
      return try EventFlushCommand(context: context).run()
    case .manifestBuild(let options):
      return try ManifestBuild(context: context, options: options).run()
    case .manifestCheck(let options):
      try prepareTransfers(context)
      return try ManifestCheck(context: context, options: options).run()
    case .manifestSign(let options):
      return try ManifestSign(context: context, options: options).run()
    case .completion(let options): return PageCommand(context: context).completion(options.shell)
    case .help(let options): return PageCommand(context: context).help(options.topic)
    case .version: return PageCommand(context: context).version()
    }
  }
}

/// Before any thread or transfer begins.
private func prepareTransfers(_ context: CommandContext) throws(CommandExit) {
  do {
    try CurlTransport.prepareProcess()
  } catch {
    throw context.storeFailed(error)
  }
}

extension ParsedCommand {
  fileprivate var shared: SharedOptions {
    switch self {
    case .run(let options): options.shared
    case .mirror(let options): options.shared
    case .initialise(let options): options.shared
    case .check(let options): options.shared
    case .config(let options): options.shared
    case .status(let options): options.shared
    case .network(let options): options.shared
    case .list(let options): options.shared
    case .path(let options): options.shared
    case .explain(let options): options.shared
    case .get(let options): options.shared
    case .subscribe(let options): options.shared
    case .unsubscribe(let options): options.shared
    case .pins(let options): options.shared
    case .control(let options): options.shared
    case .withLock(let options): options.shared
    case .importing(let options): options.shared
    case .verify(let options): options.shared
    case .register(let options): options.shared
    case .notify(let options): options.shared
    case .log(let options): options.shared
    case .schedule(let options): options.shared
    case .doctor(let options): options.shared
    case .stats(let options): options.shared
    case .collect(let options): options.shared
    case .publish(let options): options.shared
    case .environment(let options): options.shared
    case .serve(let options): options.shared
    case .event(let options): options.shared
    case .eventRun(let options): options.shared
    case .consume(let options): options.shared
    case .eventList(let options): options.shared
    case .eventFlush(let options): options.shared
    case .manifestBuild(let options): options.shared
    case .manifestCheck(let options): options.shared
    case .manifestSign(let options): options.shared
    case .completion(let options): options.shared
    case .help(let options): options.shared
    case .version(let shared): shared
    }
  }
}
