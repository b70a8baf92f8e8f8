import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// Acquires the run lock of an identity, waiting as `--wait` says; nil if it stays taken.
  func runLock(
    _ places: Places,
    of identity: String,
    wait: OptionalArgument<Duration>?
  ) throws(Failure) -> RunLock? {
    try checkFileSystem(places)
    if let lock = try RunLock.acquire(cache: places.cache, identity: identity) { return lock }
    guard wait != nil else { return nil }
    console.note("waiting: \(lockHolder(places, identity))")
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

  /// Opens the cache for changes, as the run with the lock or beside all runs.
  func writingStore(
    _ places: Places,
    durability: Durability = .batch,
    by lock: RunLock? = nil
  ) throws(Failure) -> DiskStore {
    if lock == nil { try checkFileSystem(places) }
    let store = try DiskStore.openForWriting(
      cache: places.cache,
      below: places.lower,
      clockStart: clock.now().wall,
      durability: durability
    )
    try store.setIndexMode(isShared: places.isShared)
    store.lock = lock
    store.isCancelled = { StopSignals.pending != nil }
    store.orderRoom {
      // An unreadable state refuses nothing.
      var reports: [Diagnostic] = []
      return (try? StateStore.openForReading(state: places.state, reports: &reports)) ?? nil
    }
    console.report(store.takeDiagnostics())
    return store
  }

  /// Runs `work` on the cache, beside all runs.
  func changingStore<Value>(
    _ places: Places,
    durability: Durability = .batch,
    _ work: (DiskStore) throws(Failure) -> Value
  ) throws(CommandExit) -> Value {
    try reading { () throws(Failure) in
      let store = try writingStore(places, durability: durability)
      let value = try work(store)
      try store.close()
      console.report(store.takeDiagnostics())
      return value
    }
  }

  private func checkFileSystem(_ places: Places) throws(Failure) {
    guard !FileReading.isReadOnly(places.cache) else {
      throw Failure(
        .permission,
        "`\(places.cache)` is on a read-only file system; name it under `cache.lower` of a cache that can be written"
      )
    }
    if places.isShared { try FolderAccess.makeShared(places.cache) }
    if !places.isUsedAlone, let objection = try NetworkFileSystem.objection(to: places.cache) {
      throw objection
    }
  }

  func lockHolder(_ places: Places, _ identity: String) -> String {
    let process = ((try? RunLock.holder(cache: places.cache, identity: identity)) ?? nil)
      .map { " (pid \($0))" }
    return "another run of `\(SafeText.line(identity))`\(process ?? "") is using `\(places.cache)`"
  }

  func failLocked(as identity: String) -> Int32 {
    if let signal = StopSignals.pending {
      let status = ExitStatus.allCases.first { $0.code == 128 + signal } ?? .interrupted
      return console.fail(status, [])
    }
    let owner = "another run of `\(SafeText.line(identity))`"
    return console.fail(
      .deferred,
      [Diagnostic("store.locked", "\(owner) is using the cache; try again when it has ended")]
    )
  }
}
