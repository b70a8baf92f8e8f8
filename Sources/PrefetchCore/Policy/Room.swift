/// What came of making room.
package struct Room: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case enough
    /// The cache's own limit stands in the way, and nothing more may go.
    case cacheFull
    /// Too little would stay free on the disk, and nothing more may go.
    case diskTooFull
  }

  /// Where too little would stay free: what is free now, and what must stay so.
  package struct Disk: Hashable, Sendable {
    package var free: Int64
    package var minimumFree: Int64

    package init(free: Int64, minimumFree: Int64) {
      self.free = free
      self.minimumFree = minimumFree
    }

    /// Why something that needs so many bytes, nil for unknown, has to wait.
    package func objection(to bytes: Int64?) -> String {
      let need = bytes.map { "it needs \($0) bytes" } ?? "its size is not known"
      return
        "`cache.min_free`: \(free) bytes are free, \(minimumFree) must stay free, and \(need)"
    }
  }

  package var standing = Standing.enough
  package var disk: Disk?
  /// How many bytes more the cache may take by its own limit; nil for any number.
  package var remaining: Int64?
  /// Whose bodies went for it; items that segments hold keep their records.
  package var removed: [RemovedContent] = []

  package init() {}
}
