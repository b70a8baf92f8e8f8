import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// The right to change the cache, as an identity or as none, waited for as `--wait` says and
  /// until a signal asks to stop; nil where another process keeps it.
  func runLock(
    _ places: Places,
    of identity: String? = nil,
    wait: OptionalArgument<Duration>?
  ) throws(Failure) -> RunLock? {
    if !places.isUsedAlone, let objection = try NetworkFileSystem.objection(to: places.cache) {
      throw objection
    }
    if let lock = try RunLock.acquire(cache: places.cache, identity: identity) { return lock }
    guard wait != nil else { return nil }
    console.note("waiting for \(lockHolder(places, identity))")
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

  /// What `work` makes of the cache, which ends the command where another process keeps it.
  func changingStore<Value>(
    _ places: Places,
    durability: Durability = .batch,
    wait: OptionalArgument<Duration>? = nil,
    _ work: (DiskStore, RunLock) throws(Failure) -> Value
  ) throws(CommandExit) -> Value {
    let value = try reading { () throws(Failure) -> Value? in
      guard let lock = try runLock(places, wait: wait) else { return nil }
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        below: places.lower,
        clockStart: clock.now().wall,
        durability: durability
      )
      store.lock = lock
      let value = try work(store, lock)
      try store.close()
      console.report(store.takeDiagnostics())
      return value
    }
    guard let value else { throw CommandExit(status: failLocked()) }
    return value
  }

  /// Whom a run of that identity would have to wait for.
  func lockHolder(_ places: Places, _ identity: String?) -> String {
    guard let identity, !RunLock.isKeptByEarlierVersion(cache: places.cache) else {
      return "an earlier version that uses `\(places.cache)`"
    }
    let process = ((try? RunLock.holder(cache: places.cache, identity: identity)) ?? nil)
      .map { " (process \($0))" }
    return "the run of `\(SafeText.line(identity))`\(process ?? "") on `\(places.cache)`"
  }

  /// Ends a command that did not get it, as an identity or as none.
  func failLocked(as identity: String? = nil) -> Int32 {
    if let signal = StopSignals.pending {
      let status = ExitStatus.allCases.first { $0.code == 128 + signal } ?? .interrupted
      return console.fail(status, [])
    }
    let owner = identity.map { "a run of `\(SafeText.line($0))`" } ?? "an earlier version"
    return console.fail(
      .deferred,
      [Diagnostic("store.locked", "\(owner) is at work on the cache; try again when it has ended")]
    )
  }
}
