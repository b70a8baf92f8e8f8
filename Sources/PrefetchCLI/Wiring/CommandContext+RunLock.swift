import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// The right to change the cache, as an identity or as nobody, waited for as `--wait` says and
  /// until a signal asks to stop; nil where another process keeps it.
  func runLock(
    _ places: Places,
    of identity: String? = nil,
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
      identity: identity,
      wait: patience,
      isCancelled: { StopSignals.pending != nil }
    )
  }

  /// Ends a command that did not get it, as an identity or as nobody.
  func failLocked(as identity: String? = nil) -> Int32 {
    if let signal = StopSignals.pending {
      let status = ExitStatus.allCases.first { $0.code == 128 + signal } ?? .interrupted
      return console.fail(status, [])
    }
    let owner = identity.map { "another run of `\(SafeText.line($0))`" } ?? "an earlier version"
    return console.fail(
      .deferred,
      [Diagnostic("store.locked", "\(owner) is at work on the cache; try again when it has ended")]
    )
  }
}
