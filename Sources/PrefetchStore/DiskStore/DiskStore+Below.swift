package import PrefetchCore

extension DiskStore {
  package var below: [String] { lowerPaths }

  /// Opens a lower cache without taking over rows; throws why the cache cannot be used.
  package static func lower(at path: String, clockStart: Instant) throws(Failure) -> DiskStore {
    guard let store = try openLower(path, clockStart: clockStart) else {
      throw Failure(
        .disk,
        try Folder(at: path) == nil
          ? "`\(path)` does not exist; mount it, or remove it from `cache.lower`"
          : "`\(path)` holds no cache; `prefetch export` makes one"
      )
    }
    _ = try store.segments()
    let problems = store.drainDiagnostics()
    if let older = problems.first(where: { $0.code == "store.older" }) {
      throw Failure(.storeDamaged, older.message)
    }
    store.diagnostics = problems
    return store
  }
}
