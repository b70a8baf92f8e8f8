import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

package enum Program {
  /// Runs the program; `words` begin with its own name.
  package static func run(words: [String]) -> Int32 {
    StandardStreams.fill()
    StopSignals.install()
    ProcessLimits.raiseOpenFiles()
    let environment = ProcessEnvironment.current()
    CurlTransport.forgetEnvironment()
    // Swift reads the arguments from /proc; in a chroot without it there are none, and each call
    // would start a run, the default command.
    guard !words.isEmpty else {
      return Console(shared: SharedOptions(), environment: environment, log: nil).fail(
        .failed,
        [
          Diagnostic(
            "start.no-words",
            "the command line cannot be read: `/proc` is not mounted",
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
      var shared = error.shared
      let isForMonitoring = StatusOptions.isForMonitoring(words, environment.variables)
      if isForMonitoring { shared.isJSON = false }
      let console = Console(shared: shared, environment: environment, log: nil)
      let status = console.fail(.usage, error.diagnostics)
      guard isForMonitoring else { return console.finish(status) }
      return monitored(status, console)
    }
  }

  private static func run(_ invocation: Invocation, _ environment: ProcessEnvironment) -> Int32 {
    let clock = SystemClock()
    let shared = invocation.options.shared
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
    CacheUser.command = invocation.name
    WaitPolicy.current = WaitPolicy(
      isCancelled: { StopSignals.pending != nil },
      report: Console.waitTeller(shared)
    )
    let context = CommandContext(
      environment: environment,
      console: console,
      clock: clock,
      shared: shared,
      sources: invocation.sources
    )
    let isForMonitoring = (invocation.options as? StatusOptions)?.isForMonitoring ?? false
    do throws(CommandExit) {
      let status = try invocation.makeCommand(context).run()
      let ended = console.finish(status)
      return isForMonitoring ? min(ended, MonitoringLine.Verdict.unknown.rawValue) : ended
    } catch {
      if isForMonitoring { return monitored(error.status, console) }
      FailedStartReport(context: context).writeReports()
      // Input that a signal cut short is no error.
      return console.finish(StopSignals.pending.map { 128 + $0 } ?? error.status)
    }
  }

  private static func monitored(_ status: Int32, _ console: Console) -> Int32 {
    let reason = console.startFailure?.diagnostics.first { $0.severity == .error }?.message
    let line = MonitoringLine(unknown: reason ?? "`prefetch status` ended with \(status)")
    console.print(line.line)
    _ = console.finish(status)
    return line.verdict.rawValue
  }
}

extension CommandContext {
  /// Ends the command if a certificate file is missing, before any request.
  func requireTrustFiles(_ loaded: LoadedConfiguration) throws(CommandExit) {
    let missing = loaded.trustFileDiagnostics(
      isReadable: FileReading.isReadable,
      isPEM: FileReading.isPEM
    )
    guard missing.isEmpty else { throw failed(.config, missing) }
  }

  /// Called before any thread or transfer begins.
  func prepareTransfers() throws(CommandExit) {
    try reading { () throws(Failure) in try CurlTransport.prepareProcess() }
  }
}
