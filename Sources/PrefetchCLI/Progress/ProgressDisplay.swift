import PrefetchCore
import PrefetchSystem

/// Shows how far a run is: a block of lines that is drawn over and over on a terminal, plain lines
/// elsewhere.
final class ProgressDisplay: RunObserver {
  let hearsOfEach = false
  /// Ten times a second is enough for eyes and nothing for the run.
  let pauseBetweenLooks: Duration? = .milliseconds(100)
  private let console: Console
  private let stream = StandardOutput(descriptor: 2)
  private let choice: ProgressChoice
  private var state = ProgressState()
  private var lines = ProgressLines()
  private var isDrawn = false

  /// Nil where the user does not want to see it.
  init?(_ context: CommandContext, mayDraw: Bool = true) {
    guard let choice = ProgressChoice(context, mayDraw: mayDraw) else { return nil }
    console = context.console
    self.choice = choice
    // No message is written into the block: it goes, and comes back below what was written.
    console.willWrite = { [weak self] in self?.clear() }
  }

  func observe(_ fact: RunFact, at now: Moment) {
    state.note(fact)
    if choice == .lines, let line = lines.line(for: fact, state) { console.note(line) }
  }

  func look(at standing: RunStanding, _ now: Moment) {
    state.look(at: standing, now)
    switch choice {
    case .block: draw()
    case .lines: if let line = lines.line(for: state, now) { console.note(line) }
    }
  }

  /// The size is asked for each time, so a window that was resized is drawn right with the next look.
  private func draw() {
    guard TerminalScreen.isOurs(2), let size = TerminalScreen.size(of: 2) else { return }
    let block = ProgressBlock(state: state, columns: size.columns, rows: size.rows) { [console] in
      SafeText.line(Redaction.masked($0, needles: console.needles))
    }
    let lines = block.lines
    guard !lines.isEmpty else { return }
    TerminalScreen.noteDrawn(true)
    isDrawn = true
    stream.write(TerminalScreen.drawing(lines))
    _ = stream.flush()
  }

  /// Takes the lines away; whatever is written next begins where they began.
  func clear() {
    guard isDrawn else { return }
    isDrawn = false
    stream.write(TerminalScreen.erasure)
    _ = stream.flush()
    TerminalScreen.noteDrawn(false)
  }

  /// No line is shown after this.
  func finish() {
    clear()
    console.willWrite = {}
  }
}

/// How progress is shown, by what was asked for and where it would go.
enum ProgressChoice: Hashable {
  case block
  case lines

  /// Nil shows none.
  init?(_ context: CommandContext, mayDraw: Bool) {
    let variables = context.environment.variables
    self.init(
      context.shared.progress,
      isTerminal: ProcessEnvironment.isTerminal(2),
      // Logs keep what is drawn, in a mess.
      canDraw: variables["TERM"] != "dumb" && variables["CI"] == nil && mayDraw
        && context.shared.logFormat == .text,
      isQuiet: context.shared.isQuiet,
      isVerbose: context.shared.verbosity > 0
    )
  }

  init?(
    _ presence: Presence,
    isTerminal: Bool,
    canDraw: Bool,
    isQuiet: Bool,
    isVerbose: Bool
  ) {
    guard !isQuiet, presence != .never else { return nil }
    if isTerminal, canDraw, !isVerbose {
      self = .block
    } else if presence == .always {
      self = .lines
    } else {
      return nil
    }
  }
}
