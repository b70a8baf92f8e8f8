import PrefetchCore
import PrefetchSystem

/// Shows progress: a redrawn block on a terminal, plain lines elsewhere.
final class ProgressDisplay: RunObserver {
  let needsEachFact = false
  let pauseBetweenLooks: Duration? = .milliseconds(100)
  private let console: Console
  private let stream = StandardOutput(descriptor: 2)
  private let choice: ProgressChoice
  private var state = ProgressState()
  private var lines = ProgressLines()
  private var isDrawn = false

  /// Returns nil if progress is off.
  init?(_ context: CommandContext, mayDraw: Bool = true, titles: [String: String] = [:]) {
    guard let choice = ProgressChoice(context, mayDraw: mayDraw) else { return nil }
    console = context.console
    self.choice = choice
    state.titles = titles
    // Before any message the block is erased; the next look redraws it below.
    console.willWrite = { [weak self] in self?.clear() }
  }

  func observe(_ fact: RunFact, at now: Moment) {
    state.apply(fact)
    if choice == .lines, let line = lines.line(for: fact, state) { console.note(line) }
  }

  func show(_ status: RunStatus, _ now: Moment) {
    state.update(to: status, now)
    switch choice {
    case .block: draw()
    case .lines: if let line = lines.line(for: state, now) { console.note(line) }
    }
  }

  /// Draws at the current size, so that a resized window is right at the next look.
  private func draw() {
    guard TerminalScreen.isForeground(2), let size = TerminalScreen.size(of: 2) else { return }
    let block = ProgressBlock(state: state, columns: size.columns, rows: size.rows) { [console] in
      SafeText.line(Redaction.masked($0, needles: console.needles))
    }
    let lines = block.lines
    guard !lines.isEmpty else { return }
    TerminalScreen.setDrawn(true)
    isDrawn = true
    stream.write(TerminalScreen.drawing(lines))
    _ = stream.flush()
  }

  func clear() {
    guard isDrawn else { return }
    isDrawn = false
    stream.write(TerminalScreen.erasure)
    _ = stream.flush()
    TerminalScreen.setDrawn(false)
  }

  func finish() {
    clear()
    console.willWrite = {}
  }
}

/// Form of progress, by option and destination.
enum ProgressChoice: Hashable {
  case block
  case lines

  init?(_ context: CommandContext, mayDraw: Bool) {
    let variables = context.environment.variables
    self.init(
      context.shared.progress,
      isTerminal: ProcessEnvironment.isTerminal(2),
      // A log would keep every redraw.
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
