import PrefetchCore
import PrefetchStore
import Synchronization

/// Generations of streams: players keep reading the one that they began with.
final class ServedGenerations: Sendable {
  private struct State {
    var leases: Leases?
    var keptAt: [String: Instant] = [:]
    var past: [String: (lease: Leases.Lease, foundAt: Instant)] = [:]
    var endedAt: Instant?
    var trouble: Failure?
    var hasTroubled = false
  }

  private let cache: BodyPaths
  private let clock: any Clock & Sendable
  private let known = VerifiedFiles()
  private let state = Mutex(State())

  init(cache: BodyPaths, clock: any Clock & Sendable) {
    self.cache = cache
    self.clock = clock
  }

  /// Returns the name of the generation whose main playlist has this digest.
  static func name(of digest: ContentDigest) -> String {
    String(digest.hexadecimal.prefix(16))
  }

  /// Splits `@GENERATION/NAME`; nil for another form.
  static func split(_ path: String) -> (generation: String, name: String)? {
    guard path.hasPrefix("@"), let slash = path.firstIndex(of: "/") else { return nil }
    let generation = path[path.index(after: path.startIndex)..<slash]
    // The generation becomes a file name.
    guard generation.utf8.count == 16, Hexadecimal.decode(generation) != nil else { return nil }
    return (String(generation), String(path[path.index(after: slash)...]))
  }

  func keep(_ generation: String, on shelf: BodyShelf, _ files: () -> [BundleFile]) {
    let now = clock.now().wall
    state.withLock { state in
      if let keptAt = state.keptAt[generation], now < keptAt + Leases.grain { return }
      if state.keptAt.count >= Self.most { state.keptAt = [:] }
      state.keptAt[generation] = now
      do throws(Failure) {
        let leases = if let known = state.leases { known } else { try Leases(making: cache.cache) }
        state.leases = leases
        try leases.acquire(generation, files(), on: shelf, at: now)
      } catch {
        if !state.hasTroubled { state.trouble = error }
        state.hasTroubled = true
      }
    }
  }

  /// Returns a file of a recently served generation, with the shelf of its body and the item's URL.
  func find(
    _ name: String,
    of generation: String,
    item: String
  ) -> (file: BundleFile, shelf: BodyShelf, url: String)? {
    let now = clock.now().wall
    let lease: Leases.Lease? = state.withLock { state in
      if let past = state.past[generation], now < past.foundAt + Leases.grain { return past.lease }
      state.past = state.past.filter { now < $0.value.foundAt + Leases.grain }
      let leases = (try? state.leases ?? Leases(cache: cache.cache)) ?? nil
      state.leases = leases
      guard let found = leases?.find(generation, in: cache, known, at: now) else { return nil }
      state.past[generation] = (found, now)
      return found
    }
    guard let lease, let url = lease.files.first(where: { $0.key == item })?.finalURL,
      let file = lease.files.first(where: { $0.name == name })
    else { return nil }
    return (file, lease.shelf, url)
  }

  /// Ends leases unused for ten minutes.
  func endOver() {
    let now = clock.now().wall
    state.withLock { state in
      guard state.endedAt.map({ now >= $0 + Leases.grain }) ?? true else { return }
      state.endedAt = now
      let leases = (try? state.leases ?? Leases(cache: cache.cache)) ?? nil
      try? leases?.endOver(at: now)
    }
  }

  func consumeTrouble() -> Failure? {
    state.withLock { state in
      defer { state.trouble = nil }
      return state.trouble
    }
  }

  private static let most = 4_096
}
