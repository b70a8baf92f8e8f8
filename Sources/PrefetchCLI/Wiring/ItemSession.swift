import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// The cache, the state and the connections, as a command or a lane of a server has them for single
/// items.
///
/// Each is opened once: the cache for reading, and anew for writing when something is to be fetched, from
/// where all that follows is read as well. One thread at a time uses it.
final class ItemSession: @unchecked Sendable {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let places: Places
  private var reading: DiskStore??
  private var written: DiskStore?
  private var connections: CurlTransport?
  private var memory: StateStore?
  /// Whether it is one of a server, which writes the state in any case.
  private let isLasting: Bool

  init(
    context: CommandContext,
    loaded: LoadedConfiguration,
    places: Places,
    isLasting: Bool = false
  ) {
    self.context = context
    self.loaded = loaded
    self.places = places
    self.isLasting = isLasting
  }

  // MARK: The cache

  /// The cache as it is open, else for reading; nil where there is none yet.
  func store() throws(CommandExit) -> DiskStore? {
    if let written = stillWritten() { return written }
    if let reading { return reading }
    let store = try context.readingStore(places)
    reading = .some(store)
    return store
  }

  /// Opens the cache for writing; what was read from before is let go of, since one process cannot have
  /// it open in both ways.
  func writingStore() throws(Failure) -> DiskStore {
    if let written = stillWritten() { return written }
    reading = nil
    let store = try context.writingStore(
      places,
      durability: loaded.configuration.cache.durability
    )
    written = store
    return store
  }

  /// The cache that is open for writing; nil where there is none, or where it was removed since.
  private func stillWritten() -> DiskStore? {
    if let written, !written.isInPlace {
      self.written = nil
      // They write into the old one.
      connections = nil
    }
    return written
  }

  // MARK: The state

  func writingState() throws(Failure) -> StateStore {
    if let memory { return memory }
    let state = try StateStore.openForWriting(state: places.state)
    memory = state
    return state
  }

  /// What earlier runs learnt of hosts; a state that cannot be read is none.
  func hostMemory() -> HostMemory {
    if isLasting { _ = try? writingState() }
    var reports: [Diagnostic] = []
    let known =
      memory ?? (try? StateStore.openForReading(state: places.state, reports: &reports)) ?? nil
    return (try? HostMemory(known, of: loaded, at: context.clock.now().wall)) ?? .none
  }

  // MARK: Connections

  /// The connections that were made for the first request, for all that follow.
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

  /// Ends all use; it may be used anew.
  ///
  /// Without `waits` no reader is waited for.
  func close(waits: Bool = true) throws(Failure) {
    reading = nil
    connections = nil
    let (store, state) = (written, memory)
    (written, memory) = (nil, nil)
    guard waits else {
      try store?.close(patience: .zero)
      try state?.close(patience: .zero)
      return
    }
    try store?.close()
    try state?.close()
  }
}
