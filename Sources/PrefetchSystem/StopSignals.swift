internal import Glibc
internal import Synchronization

/// Records SIGINT and SIGTERM; a second one ends the process at once.
package enum StopSignals {
  /// Installs the handlers; errors replace the signals of closed pipes and file-size limits.
  package static func install() {
    // The first use initializes the atomic, which a handler must not do.
    firstSignal.store(0, ordering: .relaxed)
    TerminalScreen.setDrawn(false)
    for signal in [SIGINT, SIGTERM] {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = handleSignal
      unsafe sigemptyset(&action.sa_mask)
      unsafe sigaction(signal, &action, nil)
    }
    readingCount.store(0, ordering: .relaxed)
    Glibc.signal(SIGALRM, endSlowReading)
    for signal in [SIGPIPE, SIGXFSZ] {
      Glibc.signal(signal, SIG_IGN)
    }
  }

  /// Marks the reading of slow or endless input, which a signal ends after a second.
  package static func beginReading() {
    readingCount.add(1, ordering: .relaxed)
    if pending != nil { alarm(slowReadingLimit) }
  }

  package static func endReading() {
    readingCount.subtract(1, ordering: .relaxed)
  }

  package static var pending: Int32? {
    let signal = firstSignal.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  /// Sleeps until a stop signal or the limit; nil waits for a signal only.
  package static func wait(upTo limit: Duration?) -> Int32? {
    let start = ContinuousClock.now
    while pending == nil {
      let left = limit.map { $0 - start.duration(to: .now) } ?? slice
      guard left > .zero else { return nil }
      sleep(for: min(left, slice))
    }
    return pending
  }

  /// Longest single sleep, since the signal may interrupt another thread.
  private static let slice = Duration.milliseconds(200)

  private static func sleep(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    unsafe nanosleep(&request, nil)
  }
}

private let firstSignal = Atomic<Int32>(0)

private func handleSignal(_ signal: Int32) {
  let (isFirst, _) = firstSignal.compareExchange(expected: 0, desired: signal, ordering: .relaxed)
  guard !isFirst else {
    if readingCount.load(ordering: .relaxed) > 0 { alarm(slowReadingLimit) }
    return
  }
  TerminalScreen.eraseAtOnce()
  _exit(128 + signal)
}

private let readingCount = Atomic<Int>(0)

private let slowReadingLimit: UInt32 = 1

private func endSlowReading(_ alarm: Int32) {
  let signal = firstSignal.load(ordering: .relaxed)
  guard readingCount.load(ordering: .relaxed) > 0, signal != 0 else { return }
  TerminalScreen.eraseAtOnce()
  _exit(128 + signal)
}
