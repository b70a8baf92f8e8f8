import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// The two streams: results on stdout, everything for people on stderr.
final class Console {
  private let output = StandardOutput(descriptor: 1)
  private let messages = StandardOutput(descriptor: 2)
  private let log: LogFile?
  let shared: SharedOptions
  let usesColor: Bool
  /// Text that may not appear on either stream.
  var secrets: [String] = [] {
    didSet { needles = SecretNeedles(secrets) }
  }
  private(set) var needles: SecretNeedles = []
  /// A line of a file that diagnostics point into.
  var sourceLine: (_ file: String, _ number: Int) -> String? = { _, _ in nil }

  init(shared: SharedOptions, environment: ProcessEnvironment, log: LogFile?) {
    self.shared = shared
    self.log = log
    usesColor = Self.usesColor(shared.color, environment: environment)
  }

  /// The user's word first, then what terminals and their conventions say.
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

  func print(_ line: String) {
    output.write(line + "\n")
  }

  func print(_ document: JSONValue) {
    print(bytes: JSONWriter.bytes(document, form: .pretty) + [UInt8(ascii: "\n")])
  }

  /// A part of a document that is printed as it becomes known.
  func print(piece: String) {
    output.write(piece)
  }

  func print(bytes: [UInt8]) {
    unsafe output.write(bytes: bytes.span.bytes)
  }

  func print(bytes: RawSpan) {
    output.write(bytes: bytes)
  }

  /// Whether the reader went away; reading commands then stop quietly.
  var isClosed: Bool {
    output.outcome == .closed
  }

  func flush() {
    output.flush()
  }

  /// Writes what is buffered.
  ///
  /// A reader that went away is no fault, a full disk is one.
  func finish(_ status: Int32) -> Int32 {
    switch output.flush() {
    case .ok, .closed:
      return status
    case .failed(let number):
      report(Diagnostic("output.write", "standard output: \(StandardOutput.reason(errno: number))"))
      return ExitStatus.io.code
    }
  }

  // MARK: Messages

  func report(_ diagnostics: [Diagnostic]) {
    for diagnostic in diagnostics { report(diagnostic) }
  }

  func report(_ diagnostic: Diagnostic) {
    if diagnostic.severity == .note, shared.verbosity == 0 { return }
    if diagnostic.severity != .error, shared.isQuiet { return }
    if shared.logFormat == .json || log?.isJSON == true {
      say(JSONWriter.string(.diagnostic(masked(diagnostic))))
    } else {
      let renderer = DiagnosticRenderer(usesColor: usesColor && log == nil)
      say(renderer.render(masked(diagnostic)) { sourceLine($0, $1) })
    }
  }

  /// A line for people; not shown under `--quiet`.
  func note(_ line: String) {
    guard !shared.isQuiet else { return }
    say(SafeText.line(Redaction.masked(line, needles: needles)))
  }

  /// More than most want to know.
  func detail(_ line: String) {
    guard shared.verbosity > 0 else { return }
    note(line)
  }

  private func say(_ text: String) {
    if let log {
      log.append(text)
    } else {
      messages.write(text + "\n")
      _ = messages.flush()
    }
  }

  private func masked(_ diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.masked(needles: needles)
  }

  /// The end of a command that could not begin: words on stderr, under `--json` a document on stdout.
  func fail(_ status: ExitStatus, _ diagnostics: [Diagnostic]) -> Int32 {
    report(diagnostics)
    if shared.isJSON {
      print([
        "schema": "prefetch-error/1",
        "exit": .exit(status, code: status.code),
        "diagnostics": .array(diagnostics.map { .diagnostic(masked($0)) }),
      ])
    }
    return status.code
  }
}
