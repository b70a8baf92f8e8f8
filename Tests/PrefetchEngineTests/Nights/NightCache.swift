import PrefetchCore
import PrefetchStore
import PrefetchTestSupport

/// Storage of ten nights: in memory, or in a folder that is opened again each night.
final class NightCache {
  enum Medium {
    case memory(MemoryStore)
    case disk(TemporaryDirectory)
  }

  private let medium: Medium

  init(_ medium: Medium) {
    self.medium = medium
  }

  /// Whether the store keeps short partial bodies.
  var keepsShortParts: Bool {
    if case .memory = medium { true } else { false }
  }

  /// Number of staged bodies that were left behind.
  var stagedCount: Int {
    if case .memory(let store) = medium { store.staging.bodyCount } else { 0 }
  }

  /// Runs a function with the opened store.
  func withStore<Result>(
    at now: Instant,
    _ body: (any ContentStore) throws -> Result
  ) throws -> Result {
    switch medium {
    case .memory(let store):
      return try body(store)
    case .disk(let folder):
      let path = folder.appending("cache")
      let store = try DiskStore.openForWriting(cache: path, clockStart: now, durability: .none)
      let result = try body(store)
      try store.close()
      return result
    }
  }

  /// Returns all stored records with their bodies, by URL.
  func records(at now: Instant) throws -> [String: (record: ContentRecord, body: [UInt8]?)] {
    try withStore(at: now) { store in
      let stored = try store.stored(try store.readInventory().rows.map(\.item))
      return try stored.reduce(into: [:]) { found, stored in
        guard let record = stored?.record else { return }
        let body = try record.digest.map { digest in
          try store.withObject(digest) { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
        }
        found[record.url] = (record, body)
      }
    }
  }
}
