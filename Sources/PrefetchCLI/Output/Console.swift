import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// The two streams: results on stdout, messages on stderr.
final class Console {
  private let output = StandardOutput(descriptor: 1)
  private let messages = StandardOutput(descriptor: 2)
  private let log: LogFile?
  var journal: RunLog?
  var runID: String?
  /// Called before permanent output, so that a progress display can make room.
  var willWrite: () -> Void = {}
  private let clock = SystemClock()
  let shared: SharedOptions
  let usesColor: Bool
  var secrets: [String] = [] {
    didSet { needles = SecretNeedles(secrets, hidingURLs: hiddenURLs) }
  }
  /// Beginnings of URLs that are masked to their end.
  var hiddenURLs: [String] = [] {
    didSet { needles = SecretNeedles(secrets, hidingURLs: hiddenURLs) }
  }
  private(set) var needles: SecretNeedles = []
  private var reported: Set<Diagnostic> = []
  private(set) var startFailure: (status: ExitStatus, diagnostics: [Diagnostic])?
  var sourceLine: (_ file: String, _ number: Int) -> String? = { _, _ in nil }

  init(shared: SharedOptions, environment: ProcessEnvironment, log: LogFile?) {
    self.shared = shared
    self.log = log
    usesColor = Self.usesColor(shared.color, environment: environment)
  }

  /// Whether to use colour: the option decides, then environment and terminal.
  private static func usesColor(_ presence: Presence, environment: ProcessEnvironment) -> Bool {
    let variables = environment.variables
    switch presence {
    case .always: return true
    case .never: return false
    case .auto:
      if variables["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
      if let force = variables["CLICOLOR_FORCE"], force != "0", !force.isEmpty { return true }
      return variables["TERM"] != "dumb" && ProcessEnvironment.isTerminal(2)
    }
  }

  // MARK: Results

  /// Prints a line with secrets masked.
  func print(_ line: String) {
    print(exactly: Redaction.masked(line, needles: needles))
  }

  /// Prints a line unmasked, such as a path or URL that another program uses.
  func print(exactly line: String) {
    willWrite()
    output.write(line + "\n")
  }

  func print(_ document: JSONValue) {
    let masked = document.masked(needles: needles)
    print(bytes: JSONWriter.bytes(masked, form: .pretty) + [UInt8(ascii: "\n")])
  }

  func print(
    _ document: @autoclosure () -> JSONValue,
    orLines lines: @autoclosure () -> [String]
  ) {
    if shared.isJSON { return print(document()) }
    for line in lines() { print(line) }
  }

  func print(chunk: String) {
    willWrite()
    output.write(chunk)
  }

  func print(bytes: [UInt8]) {
    willWrite()
    unsafe output.write(bytes: bytes.span.bytes)
  }

  func print(bytes: RawSpan) {
    willWrite()
    output.write(bytes: bytes)
  }

  /// Whether the reader closed the pipe; reading commands then stop quietly.
  var isClosed: Bool {
    output.outcome == .closed
  }

  func flush() {
    output.flush()
  }

  /// Flushes stdout; a closed pipe is no error, a full disk is.
  func finish(_ status: Int32) -> Int32 {
    switch output.flush() {
    case .ok, .closed:
      return status
    case .failed(let number):
      report(Diagnostic("output.write", "standard output: \(StandardOutput.reason(errno: number))"))
      // Graver statuses outweigh a failed output.
      let weighty: [ExitStatus] = [.usage, .config, .interrupted, .terminated, .trust]
      return weighty.contains { $0.code == status } ? status : ExitStatus.io.code
    }
  }

  // MARK: Messages

  func report(_ diagnostics: [Diagnostic]) {
    for diagnostic in diagnostics where !reported.contains(diagnostic) { report(diagnostic) }
  }

  /// Reports a diagnostic at once, unless it was reported before; `report` of a list skips it then.
  func reportNow(_ diagnostic: Diagnostic) {
    guard reported.insert(diagnostic).inserted else { return }
    report(diagnostic)
  }

  func report(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity = .error,
    hint: String? = nil
  ) {
    report(Diagnostic(code, message, severity: severity, hint: hint))
  }

  /// Reports a warning that `--quiet` does not hide: the run succeeds, but a person has to act.
  func warn(_ diagnostic: Diagnostic) {
    report(diagnostic, isHidden: false)
  }

  /// Reports a diagnostic; `subject` lets programs sort messages.
  func report(_ diagnostic: Diagnostic, about subject: LogSubject = .nothing) {
    if diagnostic.severity == .note, shared.verbosity == 0 { return }
    let isUrgent = diagnostic.severity == .error || Self.urgentWarnings.contains(diagnostic.code)
    report(diagnostic, about: subject, isHidden: !isUrgent && shared.isQuiet)
  }

  /// Warnings of lost or damaged files, which `--quiet` does not hide.
  private static let urgentWarnings: Set<Diagnostic.Code> = [
    "publish.store_damaged", "state.damaged", "state.missing", "store.damaged", "store.missing",
  ]

  private func report(
    _ diagnostic: Diagnostic,
    about subject: LogSubject = .nothing,
    isHidden: Bool
  ) {
    var masked = diagnostic.masked(needles: needles)
    if masked.hint == nil, masked.severity != .note {
      masked.hint = NextStep.of(masked.code, after: masked.message)
    }
    let entry = LogEntry(masked, about: subject.masked(needles), run: runID)
    let usesColor = usesColor && log == nil
    say(entry, isHidden: isHidden) { (omitsColor: Bool) in
      DiagnosticRenderer(usesColor: usesColor && !omitsColor).render(masked) { sourceLine($0, $1) }
    }
  }

  func note(_ line: String, about subject: LogSubject = .nothing) {
    say(.info, line, about: subject, isHidden: shared.isQuiet)
  }

  /// Prints the step to take after failures, which `--quiet` does not hide either.
  func advise(_ line: String) {
    say(.info, line, about: .nothing, isHidden: false)
  }

  /// Prints a message for `-v`.
  func detail(_ line: String, about subject: LogSubject = .nothing) {
    guard shared.verbosity > 0 else { return }
    say(.debug, line, about: subject, isHidden: shared.isQuiet)
  }

  private func say(
    _ level: LogEntry.Level,
    _ line: String,
    about subject: LogSubject,
    isHidden: Bool
  ) {
    let text = SafeText.line(Redaction.masked(line, needles: needles))
    let entry = LogEntry(level: level, text, about: subject.masked(needles), run: runID)
    say(entry, isHidden: isHidden, isKept: level != .debug) { _ in text }
  }

  private func say(
    _ entry: LogEntry,
    isHidden: Bool,
    isKept: Bool = true,
    _ text: (_ omitsColor: Bool) -> String
  ) {
    let isJSON = shared.logFormat == .json
    let now = clock.now().wall
    if isKept { journal?.append(isJSON ? entry.line(at: now) : text(true)) }
    guard !isHidden else { return }
    let line = isJSON ? entry.line(at: now) : text(false)
    if let log { return log.append(line) }
    willWrite()
    messages.write(line + "\n")
    _ = messages.flush()
  }

  /// Returns a thread-safe function that reports on stderr that the process waits for another.
  static func waitTeller(_ shared: SharedOptions) -> @Sendable (String) -> Void {
    guard !shared.isQuiet else { return { _ in } }
    let isJSON = shared.logFormat == .json
    return { line in
      let text = SafeText.line(line)
      let entry = LogEntry(level: .info, text, about: .nothing, run: nil)
      let output = StandardOutput(descriptor: 2)
      output.write((isJSON ? entry.line(at: SystemClock().now().wall) : text) + "\n")
      _ = output.flush()
    }
  }

  func keep(_ line: String) {
    guard let journal else { return }
    let text = SafeText.line(Redaction.masked(line, needles: needles))
    let entry = LogEntry(level: .info, text, about: .nothing, run: runID)
    journal.append(shared.logFormat == .json ? entry.line(at: clock.now().wall) : text)
  }

  /// Reports a command that could not begin, on stderr and under `--json` as a document.
  func fail(_ status: ExitStatus, _ diagnostics: [Diagnostic]) -> Int32 {
    report(diagnostics)
    startFailure = (status, diagnostics)
    if shared.isJSON {
      print([
        "schema": "prefetch-error/1",
        "exit": .exit(status, code: status.code),
        "diagnostics": .array(diagnostics.map { .diagnostic($0.masked(needles: needles)) }),
      ])
    }
    return status.code
  }
}
