import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// Open cache, state and connections for single items; one thread at a time uses a session.
final class ItemSession: @unchecked Sendable {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  private var reading: DiskStore??
  private var written: DiskStore?
  private var connections: CurlTransport?
  private var memory: StateStore?
  private var lockfileTerms: LockfileTerms??
  /// Whether the session belongs to a server, which writes the state anyway.
  private let isLasting: Bool

  init(
    context: CommandContext,
    loaded: LoadedConfiguration,
    locations: CacheLocations,
    isLasting: Bool = false
  ) {
    self.context = context
    self.loaded = loaded
    self.locations = locations
    self.isLasting = isLasting
  }

  /// Returns the terms of the lock file, which is read once.
  func lockfile() throws(CommandExit) -> LockfileTerms? {
    if let lockfileTerms { return lockfileTerms }
    let terms = try context.lockfile(loaded, isFrozen: false)
    lockfileTerms = .some(terms)
    return terms
  }

  // MARK: The cache

  func store() throws(CommandExit) -> DiskStore? {
    if let written = stillWritten() { return written }
    if let reading { return reading }
    let store = try context.readingStore(locations)
    reading = .some(store)
    return store
  }

  /// Makes the next look into the cache see what other processes have committed.
  func reopenForReading() {
    reading = nil
  }

  /// Opens the cache for writing and closes the reading store: a process cannot have both.
  func writingStore() throws(Failure) -> DiskStore {
    if let written = stillWritten() { return written }
    reading = nil
    let store = try context.writingStore(
      locations,
      durability: loaded.configuration.cache.durability
    )
    written = store
    return store
  }

  /// Returns the writing store; nil if none is open or its cache has been removed.
  private func stillWritten() -> DiskStore? {
    if let written, !written.isInPlace {
      self.written = nil
      // The transport writes bodies into the old store.
      connections = nil
    }
    return written
  }

  // MARK: The state

  func writingState() throws(Failure) -> StateStore {
    if let memory { return memory }
    let state = try StateStore.openForWriting(state: locations.state)
    // A process opens no second index beside the one that it writes.
    state.believesClock = { [weak self] in
      guard let self else { return true }
      let store: DiskStore? = if let written { written } else { reading ?? nil }
      return ((try? store?.believesClock()) ?? nil) ?? true
    }
    memory = state
    return state
  }

  func hostMemory() -> HostMemory {
    if isLasting { _ = try? writingState() }
    var reports: [Diagnostic] = []
    let known =
      memory ?? (try? StateStore.openForReading(state: locations.state, reports: &reports)) ?? nil
    return (try? HostMemory(known, of: loaded, at: context.clock.now().wall)) ?? .none
  }

  // MARK: Connections

  func transport(_ make: () throws(Failure) -> CurlTransport) throws(Failure) -> CurlTransport {
    if let connections {
      connections.forgetAllowances()
      return connections
    }
    let made = try make()
    connections = made
    return made
  }

  // MARK: The end

  /// Closes store, state and connections, to be reopened on use; `waits` waits for readers.
  func close(waits: Bool = true) throws(Failure) {
    reading = nil
    connections = nil
    let (store, state) = (written, memory)
    (written, memory) = (nil, nil)
    guard waits else {
      try store?.close(timeout: .zero)
      _ = try? state?.close(timeout: .zero)
      return
    }
    try store?.close()
    // The state holds no body: without room for its log, the log waits for the next process.
    _ = try? state?.close()
  }
}
