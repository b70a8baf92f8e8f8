import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// The right to change the cache, waited for as `--wait` says and until a signal asks to stop; nil
  /// where another run keeps it.
  func runLock(
    _ places: Places,
    wait: OptionalArgument<Duration>?
  ) throws(Failure) -> RunLock? {
    let patience: RunLock.Patience =
      switch wait {
      case nil: .none
      case .bare: .unlimited
      case .value(let duration): .upTo(duration)
      }
    return try RunLock.acquire(
      cache: places.cache,
      wait: patience,
      isCancelled: { StopSignals.pending != nil }
    )
  }

  /// Ends a command that did not get it.
  func failLocked() -> Int32 {
    if let signal = StopSignals.pending {
      let status = ExitStatus.allCases.first { $0.code == 128 + signal } ?? .interrupted
      return console.fail(status, [])
    }
    return console.fail(
      .deferred,
      [Diagnostic("store.locked", "another run holds the lock; `--wait` waits for it")]
    )
  }
}
