internal import Glibc
internal import Synchronization

/// SIGINT and SIGTERM as a fact to be asked for; the second one ends the process at once.
package enum StopSignals {
  /// Takes both signals, and turns those for closed pipes and file-size limits into plain errors.
  package static func install() {
    // The first use makes the atomic, which a handler must not do.
    firstSignal.store(0, ordering: .relaxed)
    TerminalScreen.noteDrawn(false)
    for signal in [SIGINT, SIGTERM] {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = noteSignal
      unsafe sigemptyset(&action.sa_mask)
      unsafe sigaction(signal, &action, nil)
    }
    // The first uses make the atomics, which a handler must not do.
    readingCount.store(0, ordering: .relaxed)
    Glibc.signal(SIGALRM, endSlowReading)
    for signal in [SIGPIPE, SIGXFSZ] {
      Glibc.signal(signal, SIG_IGN)
    }
  }

  /// Begins the reading of input, which may be slow or endless and leaves nothing behind: while it lasts,
  /// a signal that nobody notices ends the process after a second.
  package static func beginReading() {
    readingCount.add(1, ordering: .relaxed)
    if pending != nil { alarm(patience) }
  }

  package static func endReading() {
    readingCount.subtract(1, ordering: .relaxed)
  }

  /// The number of the signal that asked to stop.
  package static var pending: Int32? {
    let signal = firstSignal.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  /// Sleeps until a signal asks to stop or the time has passed; nil waits for a signal alone.
  package static func wait(upTo limit: Duration?) -> Int32? {
    let start = ContinuousClock.now
    while pending == nil {
      let left = limit.map { $0 - start.duration(to: .now) } ?? slice
      guard left > .zero else { return nil }
      sleep(for: min(left, slice))
    }
    return pending
  }

  /// Another thread may be the one that a signal interrupts, so no sleep is longer than this.
  private static let slice = Duration.milliseconds(200)

  private static func sleep(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    unsafe nanosleep(&request, nil)
  }
}

private let firstSignal = Atomic<Int32>(0)

private func noteSignal(_ signal: Int32) {
  let (isFirst, _) = firstSignal.compareExchange(expected: 0, desired: signal, ordering: .relaxed)
  guard !isFirst else {
    if readingCount.load(ordering: .relaxed) > 0 { alarm(patience) }
    return
  }
  TerminalScreen.eraseAtOnce()
  _exit(128 + signal)
}

/// Readings of input that have begun and not ended.
private let readingCount = Atomic<Int>(0)

/// Seconds.
private let patience: UInt32 = 1

private func endSlowReading(_ alarm: Int32) {
  let signal = firstSignal.load(ordering: .relaxed)
  guard readingCount.load(ordering: .relaxed) > 0, signal != 0 else { return }
  TerminalScreen.eraseAtOnce()
  _exit(128 + signal)
}
