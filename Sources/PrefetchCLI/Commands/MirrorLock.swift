import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Lock file of a mirror, which `--frozen` writes where there is none.
struct MirrorLock {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let path: String

  /// Returns nil if the mirror has its lock.
  init?(_ context: CommandContext, _ loaded: LoadedConfiguration, _ locations: CacheLocations) {
    let place = LockfilePlace(loaded, in: context.environment.currentDirectory)
    guard let place, !FileReading.exists(place.path) else { return nil }
    self.context = context
    self.loaded = loaded
    self.locations = locations
    path = place.path
  }

  /// Locks what is stored; returns false if that is not all of the mirror.
  func write() throws(CommandExit) -> Bool {
    guard let store = try context.readingStore(locations) else { return false }
    let builder = context.builder(loaded)
    let now = context.clock.now().wall
    let freezing = try context.reading { () throws(Failure) in
      var freezing = try Freezing(loaded, builder, store, now: now)
      try freezing.lock(loaded.configuration.segments.map(builder.declaration))
      if freezing.gaps.isEmpty, freezing.exposed.isEmpty {
        try AtomicFile.write(freezing.text, to: path)
      }
      return freezing
    }
    guard freezing.gaps.isEmpty, freezing.exposed.isEmpty else { return false }
    let items = freezing.lockfile.segments.reduce(0) { $0 + $1.items.count }
    context.console.note(
      "locked \(Amounts.count(Int64(items), "item")) in `\(path)`; delete that file to take newer ones"
    )
    return true
  }
}
