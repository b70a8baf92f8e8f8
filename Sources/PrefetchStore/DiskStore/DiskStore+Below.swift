package import PrefetchCore

extension DiskStore {
  /// The caches below, those of this configuration first and then what others remember.
  package var below: [String] { lowerPaths }

  /// A cache below another as it stands, of which nothing is taken over; throws what keeps it from
  /// being of use.
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
    let problems = store.takeDiagnostics()
    if let older = problems.first(where: { $0.code == "store.older" }) {
      throw Failure(.storeDamaged, older.message)
    }
    store.diagnostics = problems
    return store
  }
}
