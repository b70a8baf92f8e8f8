import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// Acquires the run lock of an identity, waiting as `--wait` says; nil if it stays taken.
  func runLock(
    _ locations: CacheLocations,
    of identity: String,
    wait: OptionalArgument<Duration>?
  ) throws(Failure) -> RunLock? {
    try checkFileSystem(locations)
    if let lock = try RunLock.acquire(cache: locations.cache, identity: identity) { return lock }
    guard wait != nil else { return nil }
    console.note("waiting: \(lockHolder(locations, identity))")
    let limit: RunLock.WaitLimit =
      switch wait {
      case nil: .none
      case .bare: .unlimited
      case .value(let duration): .upTo(duration)
      }
    return try RunLock.acquire(
      cache: locations.cache,
      identity: identity,
      wait: limit,
      isCancelled: { StopSignals.pending != nil }
    )
  }

  /// Opens the cache for changes, as the run with the lock or beside all runs.
  func writingStore(
    _ locations: CacheLocations,
    durability: Durability = .batch,
    by lock: RunLock? = nil
  ) throws(Failure) -> DiskStore {
    if lock == nil { try checkFileSystem(locations) }
    let store = try DiskStore.openForWriting(
      cache: locations.cache,
      below: locations.lower,
      clockStart: clock.now().wall,
      durability: durability
    )
    try store.setIndexMode(isShared: locations.isShared)
    store.lock = lock
    store.isCancelled = { StopSignals.pending != nil }
    store.orderRoom {
      // An unreadable state refuses nothing.
      var reports: [Diagnostic] = []
      return (try? StateStore.openForReading(state: locations.state, reports: &reports)) ?? nil
    }
    console.report(store.drainDiagnostics())
    return store
  }

  func changingStore<Value>(
    _ locations: CacheLocations,
    durability: Durability = .batch,
    _ work: (DiskStore) throws(Failure) -> Value
  ) throws(CommandExit) -> Value {
    try reading { () throws(Failure) in
      let store = try writingStore(locations, durability: durability)
      let value = try work(store)
      try store.close()
      console.report(store.drainDiagnostics())
      return value
    }
  }

  private func checkFileSystem(_ locations: CacheLocations) throws(Failure) {
    guard !FileReading.isReadOnly(locations.cache) else {
      throw Failure(
        .permission,
        "`\(locations.cache)` is on a read-only file system; name it under `cache.lower` of a cache that can be written"
      )
    }
    if locations.isShared { try FolderAccess.makeShared(locations.cache) }
    if !locations.isUsedAlone, let objection = try NetworkFileSystem.objection(to: locations.cache)
    {
      throw objection
    }
  }

  func lockHolder(_ locations: CacheLocations, _ identity: String) -> String {
    let process = ((try? RunLock.holder(cache: locations.cache, identity: identity)) ?? nil)
      .map { " (pid \($0))" }
    return
      "another run of `\(SafeText.line(identity))`\(process ?? "") is using `\(locations.cache)`"
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
